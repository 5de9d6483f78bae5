"""Refuses capabilities that the server does not list. Without a connection, the connection is the reason."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    if situation.covered or (situation.pin is not None and situation.pin.present):
        return None
    return Objection(Reason.CAPABILITY_UNKNOWN if situation.reachable else situation.connection_reason)
