"""Refuses arguments with what looks like a secret. The detail names the rule that found it, never what it found."""

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    if situation.arguments is None or (rule := situation.arguments.secret) is None:
        return None
    return Objection(Reason.ARGUMENTS_SECRET, Detail(secret=rule))
