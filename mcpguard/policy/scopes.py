"""How far a scope reaches. Names are matched and nothing is looked up, so that what exists does not show."""

from fnmatch import fnmatchcase

from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Capability


def reaches(scope: Scope, server: str) -> bool:
    """Whether anything of this server can be within the scope."""
    return any(fnmatchcase(server, pattern) for pattern in scope.servers)


def within(scope: Scope, capability: Capability) -> bool:
    """Whether the names are within the scope."""
    return reaches(scope, capability.server) and any(fnmatchcase(capability.name, pattern) for pattern in scope.tools)
