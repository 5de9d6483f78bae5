"""Who calls, and how far they may reach."""

from dataclasses import dataclass

from mcpguard.domain.capabilities import Effect


@dataclass(frozen=True, slots=True)
class Scope:
    """How far a caller may reach: name patterns and effects. What is not named is not reached."""

    servers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    effects: frozenset[Effect] = frozenset()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: a named agent, or `anonymous` on loopback. An id is never used again, a label may be."""

    id: str
    label: str
    scope: Scope = Scope()
