"""What the fleet tells those above it. News travels up; nobody below waits for what becomes of it."""

from dataclasses import dataclass

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.servers.connections import Condition
from mcpguard.domain.servers.launches import Declared
from mcpguard.domain.servers.listings import Listing


@dataclass(frozen=True, slots=True)
class Stood:
    """The connection to a server came to stand otherwise."""

    server: str
    condition: Condition


@dataclass(frozen=True, slots=True)
class Listed:
    """A server was listed whole."""

    server: str
    listing: Listing
    declared: Declared
    """Under which declaration it ran; by the time that this is taken in, there may be another."""
    announced: frozenset[CapabilityKind] = frozenset()
    """The kinds of which the server itself said that they had changed."""


@dataclass(frozen=True, slots=True)
class Removed:
    """A server is no longer wanted, and its connection has ended."""

    server: str


@dataclass(frozen=True, slots=True)
class Updated:
    """A resource that somebody subscribed to has changed, or may have while nobody could hear of it."""

    server: str
    uri: str


@dataclass(frozen=True, slots=True)
class Altered:
    """What would be run for a server is not what ran when it was observed; so nothing is."""

    server: str
    declared: Declared
    """As it was wanted."""


Changes = Stood | Listed | Removed | Altered
News = Changes | Updated
