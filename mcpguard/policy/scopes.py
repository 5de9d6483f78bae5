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
    names = capability.server, capability.kind, capability.name
    if len(capability.name) > LONGEST_REMEMBERED:
        return _match(scope.servers, scope.tools, *names)
    return _remembered(scope.servers, scope.tools, *names)


Matches = Callable[[str], object]
LONGEST_REMEMBERED = 200
"""Characters of a name; agents may invent longer ones without end."""


def _match(servers: tuple[str, ...], tools: tuple[str, ...], server: str, kind: CapabilityKind, name: str) -> bool:
    named = _capabilities(tools, kind)
    return any(matches(server) for matches in _servers(servers)) and any(matches(name) for matches in named)


_remembered = lru_cache(maxsize=4096)(_match)


@lru_cache(maxsize=1024)
def _servers(patterns: tuple[str, ...]) -> tuple[Matches, ...]:
    return tuple(map(globs.matcher, patterns))


@lru_cache(maxsize=4096)
def _capabilities(patterns: tuple[str, ...], kind: CapabilityKind) -> tuple[Matches, ...]:
    """Return the matchers of the patterns for this kind."""
    split = map(globs.split, patterns)
    return tuple(globs.matcher(name) for of, name in split if of in (None, kind))
