"""Whether the names are within the caller's scope.

It is the first question, and nothing was looked up for it: out of reach and unknown are one answer.
"""

from typing import Final

from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.scopes import within
from mcpguard.policy.situation import Situation

_OUT_OF_REACH: Final = Objection(Reason.CAPABILITY_UNKNOWN)


def objection(situation: Situation) -> Objection | None:
    return None if within(situation.caller.scope, situation.capability) else _OUT_OF_REACH
