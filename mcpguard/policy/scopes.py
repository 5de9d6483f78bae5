"""Tells whether names are within a scope. Nothing is looked up, so the answer does not reveal what exists."""

from collections.abc import Callable
from functools import lru_cache

from mcpguard.codec import globs
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Capability, CapabilityKind


def is_server_in_scope(scope: Scope, server: str) -> bool:
    """Tell whether any capability of this server can be in the scope."""
    return any(matches(server) for matches in _servers(scope.servers))


def is_in_scope(scope: Scope, capability: Capability) -> bool:
    """Tell whether the names of the server and of the capability are in the scope."""
    named = _capabilities(scope.tools, capability.kind)
    return is_server_in_scope(scope, capability.server) and any(matches(capability.name) for matches in named)


Matches = Callable[[str], object]


@lru_cache(maxsize=1024)
def _servers(patterns: tuple[str, ...]) -> tuple[Matches, ...]:
    return tuple(map(globs.matcher, patterns))


@lru_cache(maxsize=4096)
def _capabilities(patterns: tuple[str, ...], kind: CapabilityKind) -> tuple[Matches, ...]:
    """Return the matchers of the patterns for this kind."""
    split = map(globs.split, patterns)
    return tuple(globs.matcher(name) for of, name in split if of in (None, kind))
