"""Refuses capabilities that are blocked, or whose listed definition is not the approved one."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    if situation.blocked:
        return Objection(Reason.CAPABILITY_BLOCKED)
    if situation.covered or situation.pin is None or situation.pin.callable:
        return None
    match situation.pin.standing:
        case CapabilityStanding.BLOCKED:
            return Objection(Reason.CAPABILITY_BLOCKED)
        case CapabilityStanding.PENDING:
            return Objection(Reason.CAPABILITY_PENDING)
        case _:
            return Objection(Reason.CAPABILITY_CHANGED)
