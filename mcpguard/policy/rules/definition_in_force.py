"""Refuses calls while the stored definitions are not the ones that the current connection listed last."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    return None if situation.in_force else Objection(Reason.CAPABILITY_UNCONFIRMED)
