"""Refuses names out of the caller's scope.

It is the first rule, and nothing is looked up for it: unknown and out of scope get the same answer, so a caller cannot
find out what exists.
"""

from typing import Final

from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.scopes import is_in_scope
from mcpguard.policy.situation import Situation

_OUT_OF_SCOPE: Final = Objection(Reason.CAPABILITY_UNKNOWN)


def objection(situation: Situation) -> Objection | None:
    return None if is_in_scope(situation.caller.scope, situation.capability) else _OUT_OF_SCOPE
