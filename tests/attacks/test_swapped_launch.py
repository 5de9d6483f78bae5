"""After the approval somebody changes what is launched: the command, an argument, the environment, the URL."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mcpguard.domain.servers.launches import DeclaredServer, RemoteLaunch, StdioLaunch
from mcpguard.domain.servers.standing import CapabilityStanding, UpstreamStanding
from tests.attacks.quarantined import let_time_pass, moves, pin, records, refused, standing
from tests.gate import gate
from tests.gateway.speaking import guarded, played, speaking
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


def stdio(declared: DeclaredServer) -> StdioLaunch:
    assert isinstance(declared.launch, StdioLaunch)
    return declared.launch


def http(declared: DeclaredServer) -> RemoteLaunch:
    assert isinstance(declared.launch, RemoteLaunch)
    return declared.launch


PROCESSES: dict[str, Callable[[DeclaredServer], DeclaredServer]] = {
    "command": lambda it: replace(it, launch=replace(stdio(it), command="/bin/cat")),
    "argument": lambda it: replace(it, launch=replace(stdio(it), arguments=(*stdio(it).arguments, "--quiet"))),
    "variable": lambda it: replace(it, launch=replace(stdio(it), environment={"NODE_OPTIONS": "--require /tmp/x.js"})),
    "secret": lambda it: replace(it, launch=replace(stdio(it), environment={"TOKEN": "another"})),
    "folder": lambda it: replace(it, launch=replace(stdio(it), folder="/tmp")),  # noqa: S108 - nothing is written there
}
REMOTES: dict[str, Callable[[DeclaredServer], DeclaredServer]] = {
    "url": lambda it: replace(it, launch=replace(http(it), url=http(it).url + "?as=admin")),
    "header": lambda it: replace(it, launch=replace(http(it), headers={"x-as": "admin"})),
}


@pytest.mark.parametrize("what", [*PROCESSES, *REMOTES])
async def test_another_launch_is_quarantined_and_not_started(what: str, tmp_path: Path) -> None:
    script = Script()
    over = "stdio" if what in PROCESSES else "http"
    async with guarded(tmp_path, script, over=over) as guard, speaking(guard, "http legacy") as client:
        assert (await client.call("web::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
        known = guard.now.guard.servers.find("web")
        assert known is not None
        approved = known.upstream.identity
        await guard.declare((PROCESSES | REMOTES)[what](known.declared))
        assert standing(guard) is UpstreamStanding.QUARANTINED
        assert pin(guard, "echo").standing is CapabilityStanding.PENDING, "what was approved of it is forgotten"
        assert await client.names() == []
        calls = len(script.calls)
        await refused(guard, client, "server:quarantined", script)
        await let_time_pass(guard)
        assert len(script.calls) == calls, "nothing has contacted it"
        assert guard.now.fleet.condition("web") is None, "and nothing keeps it running"
        (move,) = moves(guard, move="identity_changed", capability=None)
        assert approved is not None
        assert (move["approved"], move["after"]) == (str(approved.launch), "quarantined")
        assert records(guard, "admitted", change="changed")[0]["by"] == "configuration file"


async def test_a_change_of_what_is_only_ours_stays_approved(tmp_path: Path) -> None:
    """How long a call may take is no part of what runs. The server is connected anew, and goes on."""
    script = Script()
    async with guarded(tmp_path, script) as guard:
        known = guard.now.guard.servers.find("web")
        assert known is not None
        await guard.declare(replace(known.declared, timeout=5.0))
        await guard.ready("web")
        client = await guard.legacy()
        assert (await client.call("web::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
        assert standing(guard) is UpstreamStanding.APPROVED


async def test_a_secret_that_is_only_referred_to_may_rotate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script()
    monkeypatch.setenv("ROTATING", "one")
    async with played(tmp_path, script, "web") as server:
        declared = replace(server, launch=replace(http(server), headers={"x-token": "${env:ROTATING}"}))
        async with gate(tmp_path, declared) as guard:
            before = standing(guard), guard.now.guard.servers.find("web")
            monkeypatch.setenv("ROTATING", "two")
            await guard.declare(declared)
            assert (standing(guard), guard.now.guard.servers.find("web")) == before
            assert standing(guard) is UpstreamStanding.APPROVED
