"""Refuses effects outside the caller's scope. The effect that a reviewer assigned counts, not the declared one."""

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    effect, caller = situation.effect, situation.caller
    if effect in caller.scope.effects:
        return None
    return Objection(Reason.SCOPE_EFFECT, Detail(effect=effect.value if effect else "", caller=caller.label))
