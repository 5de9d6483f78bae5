"""Refuses calls to servers that are disabled or not approved with their current launch."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    match situation.standing:
        case UpstreamStanding.APPROVED:
            return None if situation.enabled else Objection(Reason.SERVER_DISABLED)
        case None:
            return Objection(Reason.CAPABILITY_UNKNOWN)
        case UpstreamStanding.BLOCKED:
            return Objection(Reason.SERVER_BLOCKED)
        case _:
            return Objection(Reason.SERVER_QUARANTINED)
