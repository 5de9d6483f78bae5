"""Refuses calls that exceed the caller's budget.

It runs after every other refusal, so that a refused call costs nothing; only `hold_person` runs later.
"""

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    return Objection(Reason.BUDGET_CALLS, Detail(budget=situation.spent)) if situation.spent is not None else None
