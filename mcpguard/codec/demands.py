"""Phrases of the setting `holds.calls`: the calls that each one covers.

    EFFECT [of SERVER[:NAME]] [by CALLER]

EFFECT is `read`, `write`, `destructive` or `any`; the rest are name patterns, and an omitted one matches every name.

Rule kept here: a phrase has this form or is refused; an unreadable phrase would silently cover no call.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mcpguard.codec import globs
from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, Effect
from mcpguard.domain.errors import InvalidName

ANY: Final = "any"
FORM: Final = (
    "EFFECT [of SERVER[:NAME]] [by CALLER], as in `destructive`, `any of prod-*`, `write of files:mv* by desk`"
)
_PHRASE: Final = re.compile(r"(any|read|write|destructive)(?: of ([^\s:]+)(?::(\S+))?)?(?: by (\S+))?")


@dataclass(frozen=True, slots=True)
class Demand:
    """One phrase, with its effect and its patterns."""

    text: str
    effect: Effect | None
    server: str
    name: str
    caller: str

    def covers(self, caller: Caller, capability: Capability, effect: Effect) -> bool:
        """Tell whether the phrase covers this call."""
        if self.effect not in (None, effect):
            return False
        named = ((self.server, capability.server), (self.name, capability.name), (self.caller, caller.label))
        return all(globs.matcher(pattern)(name) for pattern, name in named)


@lru_cache(maxsize=1024)
def demand(text: str) -> Demand:
    """Read a phrase. Raises InvalidName, which repeats nothing of it."""
    if (match := _PHRASE.fullmatch(text)) is None:
        raise InvalidName(f"must be {FORM}")
    effect, *patterns = match.groups()
    server, name, caller = (globs.check_pattern(each) if each else globs.EVERYTHING for each in patterns)
    return Demand(text, None if effect == ANY else Effect(effect), server, name, caller)
