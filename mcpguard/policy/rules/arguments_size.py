"""Refuses arguments that are too large or nested too deeply, before any other check of them."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    if situation.arguments is None or (detail := situation.arguments.too_large) is None:
        return None
    return Objection(Reason.ARGUMENTS_TOO_LARGE, detail)
