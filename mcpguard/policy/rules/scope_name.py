"""Refuses names outside the caller's scope.

This is the first rule, and it looks nothing up: unknown and out-of-scope names get the same answer, so that a caller
cannot discover what exists.
"""

from typing import Final

from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.scopes import is_in_scope
from mcpguard.policy.situation import Situation

_OUT_OF_SCOPE: Final = Objection(Reason.CAPABILITY_UNKNOWN)


def objection(situation: Situation) -> Objection | None:
    return None if is_in_scope(situation.caller.scope, situation.capability) else _OUT_OF_SCOPE
