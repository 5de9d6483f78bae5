"""Whether something in the arguments looks like a secret. Which rule found it is told, never what it found."""

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    if situation.arguments is None or (rule := situation.arguments.secret) is None:
        return None
    return Objection(Reason.ARGUMENTS_SECRET, Detail(secret=rule))
