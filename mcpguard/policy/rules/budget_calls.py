"""Whether the caller has calls left. It is the last question, so that what is refused for another reason costs none."""

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    return Objection(Reason.BUDGET_CALLS, Detail(budget=situation.spent)) if situation.spent is not None else None
