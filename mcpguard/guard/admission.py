"""How an upstream comes to stand in front of agents.

Until servers wait in quarantine for a person, whatever the operator's own configuration file declares counts as
approved. That is decided here and nowhere else; the guard listens on loopback only for as long as it is so.
"""

from mcpguard.domain.clock import Ids
from mcpguard.domain.launches import Declared, RemoteLaunch
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.domain.upstreams import Transport, Upstream


def admitted(declared: Declared, new_id: Ids) -> Upstream:
    """The upstream that a declaration becomes."""
    launch = declared.launch
    transport = launch.transport if isinstance(launch, RemoteLaunch) else Transport.STDIO
    return Upstream(new_id(), declared.name, transport, UpstreamStanding.APPROVED, declared.enabled)
