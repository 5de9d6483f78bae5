"""Whether there is a connection that the call could use."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    return None if situation.reachable else Objection(situation.unconnected)
