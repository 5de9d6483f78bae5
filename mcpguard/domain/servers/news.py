"""Events that the fleet reports to higher layers; the fleet never waits for them to be handled."""

from dataclasses import dataclass

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.servers.connections import Condition
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.listings import Listing


@dataclass(frozen=True, slots=True)
class ConnectionChanged:
    """The connection to a server has another state."""

    server: str
    condition: Condition


@dataclass(frozen=True, slots=True)
class ServerListed:
    """A server was listed completely."""

    server: str
    listing: Listing
    declared: DeclaredServer
    """The declaration under which the server ran; there may be another by the time the event is handled."""
    announced: frozenset[CapabilityKind] = frozenset()
    """The kinds that the server itself announced as changed."""


@dataclass(frozen=True, slots=True)
class ServerRemoved:
    """A server was removed from the fleet, and its connection has ended."""

    server: str


@dataclass(frozen=True, slots=True)
class ResourceUpdated:
    """A subscribed resource has changed, or may have changed while the server was not connected."""

    server: str
    uri: str


@dataclass(frozen=True, slots=True)
class LaunchAltered:
    """The program of a server differs from the one that was observed, so the server is not started."""

    server: str
    declared: DeclaredServer
    """The declaration that was to be started."""


Changes = ConnectionChanged | ServerListed | ServerRemoved | LaunchAltered
News = Changes | ResourceUpdated
