"""Refuses arguments that appear to contain a secret. The detail names the rule that matched, never what it matched."""

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    if situation.arguments is None or (rule := situation.arguments.secret) is None:
        return None
    return Objection(Reason.ARGUMENTS_SECRET, Detail(secret=rule))
