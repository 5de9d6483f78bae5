"""Whether the caller may use what has this effect: the one that a person assigned, whatever the call declares."""

from mcpguard.domain.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    return None if situation.effect in situation.caller.scope.effects else Objection(Reason.SCOPE_EFFECT)
