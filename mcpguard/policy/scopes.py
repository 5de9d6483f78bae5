"""How far a scope reaches. Names are matched and nothing is looked up, so that what exists does not show."""

from collections.abc import Callable
from functools import lru_cache

from mcpguard.codec import globs
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Capability, CapabilityKind


def reaches(scope: Scope, server: str) -> bool:
    """Whether anything of this server can be within the scope."""
    return any(matches(server) for matches in _servers(scope.servers))


def within(scope: Scope, capability: Capability) -> bool:
    """Whether the names are within the scope."""
    named = _capabilities(scope.tools, capability.kind)
    return reaches(scope, capability.server) and any(matches(capability.name) for matches in named)


Matches = Callable[[str], object]


@lru_cache(maxsize=1024)
def _servers(patterns: tuple[str, ...]) -> tuple[Matches, ...]:
    return tuple(map(globs.matcher, patterns))


@lru_cache(maxsize=4096)
def _capabilities(patterns: tuple[str, ...], kind: CapabilityKind) -> tuple[Matches, ...]:
    """The patterns that are about this kind."""
    split = map(globs.split, patterns)
    return tuple(globs.matcher(name) for of, name in split if of in (None, kind))
