"""Whether the caller may use what has this effect: the one that a person assigned, whatever the call declares."""

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    effect, caller = situation.effect, situation.caller
    if effect in caller.scope.effects:
        return None
    return Objection(Reason.SCOPE_EFFECT, Detail(effect=effect.value if effect else "", caller=caller.label))
