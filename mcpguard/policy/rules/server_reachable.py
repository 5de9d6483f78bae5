"""Refuses calls to servers without a connection."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    return None if situation.reachable else Objection(situation.connection_reason)
