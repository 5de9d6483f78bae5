"""What is known of the servers: which of them may write to which folders at a moment."""

import pytest

from mcpguard.domain.servers.inspections import Inspection
from mcpguard.domain.servers.launches import DeclaredServer, Mount, Profile, StdioLaunch
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Transport, Upstream
from mcpguard.guard.servers.registry import Registry, ServerState

READS, WRITES = Mount("/srv/docs"), Mount("/srv/out", writable=True)


@pytest.mark.parametrize(
    ("standing", "inspection", "counts"),
    [
        (UpstreamStanding.APPROVED, None, True),
        (UpstreamStanding.QUARANTINED, None, False),
        (UpstreamStanding.QUARANTINED, Inspection(1, "ada"), True),
        (UpstreamStanding.QUARANTINED, Inspection(1, "ada", ended=2), False),
    ],
    ids=["runs", "waits", "is inspected", "its inspection failed"],
)
def test_whoever_runs_or_is_inspected_may_write(
    standing: UpstreamStanding, inspection: Inspection | None, counts: bool
) -> None:
    launch = StdioLaunch("true", profile=Profile.STRICT, mounts=(READS, WRITES))
    upstream = Upstream("files's", "files", Transport.STDIO, standing=standing, inspection=inspection)
    registry = Registry()
    registry.add(ServerState(upstream, DeclaredServer("files", "files", launch)))
    assert registry.writable() == ((("files", WRITES),) if counts else ())
