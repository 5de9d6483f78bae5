"""Name patterns: `*` is any run of characters, `?` is any single one, and everything else is literal.

Rules kept here:
1. Matching takes time in proportion to the name, whatever the pattern: there is no backtracking.
2. One pattern covers another only if it matches every name that the other matches. Where that is uncertain, it does not
   cover it.
3. A pattern for capabilities may begin with a kind, as `tool:read_*` or `resource:file:///srv/*`; without one it
   applies to every kind. A name that itself begins with such a prefix is written with its kind before it.
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


def check_pattern(pattern: str) -> str:
    """Return the pattern if it is valid. Raises InvalidName, which repeats nothing of it."""
    if not pattern:
        raise InvalidName("a pattern must not be empty; * matches every name")
    if len(pattern) > LONGEST:
        raise InvalidName(f"a pattern has at most {LONGEST} characters")
    if not pattern.isprintable() or pattern != pattern.strip():
        raise InvalidName("a pattern must not have invisible characters or spaces around it")
    if "[" in pattern or "]" in pattern:
        raise InvalidName("a pattern cannot use brackets; its wildcards are * and ?")
    return pattern


def matcher(pattern: str) -> Callable[[str], object]:
    """Return the function that matches a whole name: it returns something true, or None."""
    return _compiled(pattern).fullmatch


def split(pattern: str) -> tuple[CapabilityKind | None, str]:
    """Return the kind that a pattern for capabilities is about, None for every kind, and the pattern of the name."""
    for prefix, kind in _KINDS.items():
        if pattern.startswith(prefix):
            return kind, pattern.removeprefix(prefix)
    return None, pattern


def covers(pattern: str, other: str) -> bool:
    """Tell whether this pattern certainly matches everything that the other one matches."""
    kind, name = split(pattern)
    other_kind, other_name = split(other)
    return kind in (None, other_kind) and _compiled(name, "[^*]").fullmatch(other_name) is not None


@lru_cache(maxsize=4096)
def _compiled(pattern: str, one: str = ".") -> re.Pattern[str]:
    """The first place where a piece matches is as good as any later one, so each is searched once (`(?>…)`)."""
    first, *rest = (one.join(map(re.escape, piece.split("?"))) for piece in re.sub(r"\*+", "*", pattern).split("*"))
    if not rest:
        return re.compile(first, re.DOTALL)
    *middle, last = rest
    pieces = "".join(f"(?>.*?{piece})" for piece in middle)
    return re.compile(f"{first}{pieces}.*{last}" if last else f"{first}{pieces}.*", re.DOTALL)
