"""Callers and their scopes."""

from dataclasses import dataclass

from mcpguard.domain.capabilities import Effect


@dataclass(frozen=True, slots=True)
class Scope:
    """What a caller may use: name patterns and effects. Whatever they do not name is out of scope."""

    servers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    effects: frozenset[Effect] = frozenset()


@dataclass(frozen=True, slots=True)
class Caller:
    """A named agent, or `anonymous` on loopback. An id is never used again; a label may be.

    `must_declare`: calls that do more than read are refused unless they declare an intent. `manage`: a user has
    granted the right to add, change and remove servers.
    """

    id: str
    label: str
    scope: Scope = Scope()
    must_declare: bool = False
    manage: bool = False
