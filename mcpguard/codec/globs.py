"""Name patterns: `*` is any run of characters, `?` is any one, and everything else is itself.

Rules kept here:
1. Matching takes time in proportion to the name, whatever the pattern: nothing is ever tried again another way.
2. One pattern covers another only if every name of the other is its name too. Where that is not certain, it does not.
3. A pattern for capabilities may begin with a kind, as `tool:read_*` or `resource:file:///srv/*`; without one it is
   about every kind. A name that itself begins so is written with its kind before it.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.errors import InvalidName

LONGEST = 200
MOST = 50
EVERYTHING = "*"
_KINDS = {f"{kind.value}:": kind for kind in CapabilityKind}


def checked(pattern: str) -> str:
    """The pattern, if it has the form of one. Raises InvalidName, which repeats nothing of it."""
    if not pattern:
        raise InvalidName("a pattern is empty; * stands for every name")
    if len(pattern) > LONGEST:
        raise InvalidName(f"a pattern has at most {LONGEST} characters")
    if not pattern.isprintable() or pattern != pattern.strip():
        raise InvalidName("a pattern has characters that cannot be seen")
    if "[" in pattern or "]" in pattern:
        raise InvalidName("a pattern has * and ? and no brackets")
    return pattern


def matcher(pattern: str) -> Callable[[str], object]:
    """What finds out whether a whole name is of this pattern: something true, or None."""
    return _compiled(pattern).fullmatch


def split(pattern: str) -> tuple[CapabilityKind | None, str]:
    """The kind that a pattern for capabilities is about, None for all of them; and the pattern of the name."""
    for prefix, kind in _KINDS.items():
        if pattern.startswith(prefix):
            return kind, pattern.removeprefix(prefix)
    return None, pattern


def covers(pattern: str, other: str) -> bool:
    """Whether whatever the other is about is certainly something that this pattern is about."""
    kind, name = split(pattern)
    other_kind, other_name = split(other)
    return kind in (None, other_kind) and _compiled(name, "[^*]").fullmatch(other_name) is not None


@lru_cache(maxsize=4096)
def _compiled(pattern: str, one: str = ".") -> re.Pattern[str]:
    """The first place where a piece fits is as good as any later one, so each is looked for once (`(?>…)`)."""
    first, *rest = (one.join(map(re.escape, piece.split("?"))) for piece in re.sub(r"\*+", "*", pattern).split("*"))
    if not rest:
        return re.compile(first, re.DOTALL)
    *middle, last = rest
    found = "".join(f"(?>.*?{piece})" for piece in middle)
    return re.compile(f"{first}{found}.*{last}" if last else f"{first}{found}.*", re.DOTALL)
