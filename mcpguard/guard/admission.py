"""How an upstream comes to stand in front of agents.

Until servers wait in quarantine for a person, whatever the operator's own configuration file declares counts as
approved, and may ask of clients what the operator's settings permit it. That is decided here and nowhere else; the
guard listens on loopback only for as long as it is so.
"""

from collections.abc import Iterable

from mcpguard.domain.asks import AskKind
from mcpguard.domain.clock import Ids
from mcpguard.domain.launches import Declared, RemoteLaunch
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.domain.upstreams import Transport, Upstream


def admitted(declared: Declared, permitted: Iterable[str], new_id: Ids) -> Upstream:
    """The upstream that a declaration becomes. What is permitted is said as `server:kind`."""
    launch = declared.launch
    transport = launch.transport if isinstance(launch, RemoteLaunch) else Transport.STDIO
    said = [each.rpartition(":") for each in permitted]
    may_ask = frozenset(AskKind(kind) for server, _, kind in said if server == declared.name)
    return Upstream(new_id(), declared.name, transport, UpstreamStanding.APPROVED, declared.enabled, may_ask)
