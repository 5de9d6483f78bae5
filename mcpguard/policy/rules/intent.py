"""Whether the call says what it means to do, and does not say less than will happen.

Rules kept here:
1. A declaration that has the wrong form, or contradicts the variant that was called, is refused whatever it says.
2. To declare less than the effect is refused, and the variant to use is told. To declare more is accepted: whoever
   expects the worst is not surprised.
3. What nobody declared is implied, and equal to the effect; a caller who must declare may only read so.
"""

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.reasons import Reason
from mcpguard.policy.intents import call_with, understates
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    effect, stated = situation.effect, situation.stated
    if effect is None:
        return None  # there is nothing that could be called, which an earlier rule has said
    reason = None
    if stated is not None:
        reason = stated.wrong
        if reason is None and understates(stated.intent.operation, effect):
            reason = Reason.INTENT_UNDERSTATED
    elif situation.caller.must_declare and effect is not Effect.READ:
        reason = Reason.INTENT_UNDECLARED
    if reason is None:
        return None
    return Objection(reason, Detail(effect=effect.value, call_with=call_with(effect)))
