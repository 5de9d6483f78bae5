"""A remote server that was approved, and whose name, redirections or announcements lead elsewhere later."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.servers.launches import DeclaredServer, RemoteLaunch
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.upstreams.exchange.conversation import ServerError
from tests.attacks.quarantined import connection, standing, until
from tests.gate import Remote, gate, remote
from tests.gateway.speaking import refused_once
from tests.simulators.over_http import serving_http
from tests.simulators.over_sse import serving_sse
from tests.simulators.script import Script
from tests.upstreams.played import played as playing
from tests.upstreams.talking import talking

pytestmark = pytest.mark.anyio
HTTP: Remote = Transport.HTTP
SSE: Remote = Transport.SSE
EACH_TRANSPORT = pytest.mark.parametrize("transport", [HTTP, SSE])
INSIDE = [
    "169.254.169.254", "168.63.129.16", "10.0.0.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1",  # noqa: S104 - to be refused
    "64:ff9b::7f00:1", "2002:7f00:1::1", "fd00:ec2::254", "fe80::1", "200::1",
]  # fmt: skip
CANARY = "canary-of-the-header"


class Names:
    """What every name leads to now."""

    def __init__(self) -> None:
        self.leads_to = ["127.0.0.1"]
        self.asked = 0

    async def getaddrinfo(self, host: str, port: int, **_: object) -> list[object]:
        assert host == "localhost"
        self.asked += 1
        return [(socket.AF_UNSPEC, socket.SOCK_STREAM, 6, "", (each, port)) for each in self.leads_to]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    one = Names()
    monkeypatch.setattr(anyio, "getaddrinfo", one.getaddrinfo)
    return one


@asynccontextmanager
async def serving(script: Script, transport: Remote) -> AsyncIterator[DeclaredServer]:
    serve = serving_http if transport is HTTP else serving_sse
    async with serve(script) as url:
        declared = remote("web", url.replace("127.0.0.1", "localhost"), transport)
        assert isinstance(declared.launch, RemoteLaunch)
        yield replace(declared, launch=replace(declared.launch, headers={"X-Api-Key": CANARY}))


@pytest.mark.parametrize("address", INSIDE)
@EACH_TRANSPORT
async def test_a_name_that_leads_inside_after_its_approval_leads_nowhere(
    transport: Remote, address: str, names: Names, tmp_path: Path
) -> None:
    script = Script()
    async with serving(script, transport) as declared, gate(tmp_path, declared) as guard:
        client = await guard.legacy()
        assert not (await client.call("web::echo", {"n": 1})).result.get("isError")
        heard = len(script.calls)
        names.leads_to = [address]
        assert guard.now.fleet.restart("web")
        await until(guard, lambda: "is not a public address" in connection(guard).error)
        with refused_once(guard, "server:unreachable", script):
            said = (await client.call("web::echo", {"n": 1})).result
        assert said["_meta"]["mcpguard/refusal"]["executed"] == "no"
        assert len(script.calls) == heard
        assert standing(guard) is UpstreamStanding.APPROVED
        assert CANARY not in str(guard.said())
        names.leads_to = ["127.0.0.1"]
        await until(guard, lambda: not connection(guard).error)


@pytest.mark.parametrize("status", [401, 403])
async def test_where_a_server_says_that_credentials_are_to_be_had_nobody_goes(status: int) -> None:
    async with playing() as server, playing() as other, talking(server, {"X-Api-Key": CANARY}) as talk:
        said = f'Bearer resource_metadata="{other.url}", authorization_uri="http://169.254.169.254/"'
        more = (f"WWW-Authenticate: {said}", f"Link: <{other.url}>; rel=preload", f'Alt-Svc: h2=":{other.port}"')
        for _ in range(2):
            talk.asking("tools/call", {"name": "x"})
            await (await server.next()).answer(status, b"", *more, f"Location: {other.url}", "Set-Cookie: a=b")
            assert isinstance(await talk.outcome(), ServerError)
        assert "cookie" not in server.heard[-1].headers
        assert other.connections == 0
