"""Refuses calls whose intent is missing, malformed, or weaker than the tool's effect.

Rules kept here:
1. An intent that is malformed or contradicts the variant that was called is refused, whatever it declares.
2. An intent weaker than the effect is refused, and the refusal names the variant to use. A stronger one is accepted: an
   agent that expects the worst is not misled.
3. Without a declaration, the intent is implied and equals the effect; a caller that must declare may then only read.
"""

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.reasons import Reason
from mcpguard.policy.intents import call_variant, is_understated
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    effect, stated = situation.effect, situation.stated
    if effect is None:
        return None  # nothing could be called, and an earlier rule has refused it
    reason = None
    if stated is not None:
        reason = stated.wrong
        if reason is None and is_understated(stated.intent.operation, effect):
            reason = Reason.INTENT_UNDERSTATED
    elif situation.caller.must_declare and effect is not Effect.READ:
        reason = Reason.INTENT_UNDECLARED
    if reason is None:
        return None
    return Objection(reason, Detail(effect=effect.value, call_with=call_variant(effect)))
