"""Whether what is known of the server is what the very connection that would carry the call listed last."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    return None if situation.in_force else Objection(Reason.CAPABILITY_UNCONFIRMED)
