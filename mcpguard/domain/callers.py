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
    """Who calls: a named agent, or `anonymous` on loopback. An id is never used again, a label may be.

    `must_declare`: whatever does more than read is refused unless the call declares it. `manage`: a person has granted
    the right to add, change and remove servers.
    """

    id: str
    label: str
    scope: Scope = Scope()
    must_declare: bool = False
    manage: bool = False
