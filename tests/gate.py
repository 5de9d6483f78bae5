"""A whole guard with its listeners on loopback, in front of servers that the test plays, and clients of it.

The guard's clock is the test's. Everything else is real: sockets, processes, the database.
"""

import json
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
from anyio.streams.buffered import BufferedByteReceiveStream

from mcpguard.app import places
from mcpguard.app.lifespan import Running, running
from mcpguard.app.listeners import ListenAddresses, listening
from mcpguard.domain.asks import AskKind
from mcpguard.domain.callers import Caller
from mcpguard.domain.servers.launches import DeclaredServer, Profile, RemoteLaunch, StdioLaunch, Templates
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.guard.review.admission import from_file
from mcpguard.upstreams.sandbox.probe import NoSandbox, UsableSandbox
from tests.clock import FakeClock
from tests.patience import PATIENCE
from tests.review import again, approved, taken_in
from tests.simulators.http_client import HttpClient
from tests.simulators.line_client import LineClient
from tests.witnesses import watched
from tests.world import CHEAP, new_id, said, settings_for, with_a_store

DIRECT = "/mcp/all"
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Reading everybody's certificates takes longer than a guard takes to start, and nobody here has any."""
Remote = Literal[Transport.HTTP, Transport.SSE]


@dataclass
class Gate:
    """A guard that runs, and what a test does with it."""

    now: Running
    where: ListenAddresses
    clock: FakeClock
    http: httpx2.AsyncClient

    def client(self, face: str = DIRECT, *, modern: bool = True, token: str | None = None) -> HttpClient:
        """A client over HTTP that has said nothing yet."""
        client = HttpClient(self.http, self.where.url + face, modern=modern)
        if token is not None:
            client.headers["authorization"] = f"Bearer {token}"
        return client

    async def legacy(self, face: str = DIRECT, *, token: str | None = None) -> HttpClient:
        """A client over HTTP that has made the handshake."""
        client = self.client(face, modern=False, token=token)
        assert (await client.initialize()).result["protocolVersion"]
        return client

    @asynccontextmanager
    async def stream(self, *, modern: bool = True, **hello: Any) -> AsyncIterator[LineClient]:  # noqa: ANN401 - JSON
        """A client on the agents' socket."""
        first = {"mcpguard": 1, "face": "direct", "only": None, "token": None} | hello
        async with await anyio.connect_unix(self.where.agents) as socket, anyio.create_task_group() as tasks:
            lines = BufferedByteReceiveStream(socket)
            await socket.send(json.dumps(first).encode() + b"\n")
            assert json.loads(await lines.receive_until(b"\n", 4096)) == {"mcpguard": 1}
            client = LineClient(socket, lines, modern=modern)
            tasks.start_soon(client.run)
            yield client
            tasks.cancel_scope.cancel()

    async def declare(self, *servers: DeclaredServer) -> None:
        """From now on the configuration file declares these."""
        assert not await self.now.guard.admission.declare(servers, from_file())

    async def review(self, name: str, *, until: Callable[[], bool]) -> None:
        """Once what it lists is such, a person approves all of it again."""
        await again(self.now, name, until)

    async def ready(self, *names: str) -> None:
        """Wait until these servers are connected and listed."""
        await taken_in(self.now, names)

    def said(self) -> list[dict[str, Any]]:
        """Every record in the store, as it lies there."""
        return said(places.database(self.now.settings))

    def entries(self) -> list[dict[str, Any]]:
        """The openings of calls, each with what its closing adds."""
        records = self.said()
        closings = {record["entry"]: record for record in records if record["kind"] == "closed"}
        return [{**closings.get(record["entry"], {}), **record} for record in records if record["kind"] == "opened"]


def remote(name: str, url: str, transport: Remote = Transport.HTTP, **more: Any) -> DeclaredServer:  # noqa: ANN401 - fields
    """A server at a URL."""
    return DeclaredServer(name, name, RemoteLaunch(transport, url, Templates()), **more)


def process(name: str, command: Sequence[str], **more: Any) -> DeclaredServer:  # noqa: ANN401 - fields
    """A server that is started, unconfined."""
    return DeclaredServer(
        name, name, StdioLaunch(command[0], tuple(command[1:]), Templates(), None, profile=Profile.NONE), **more
    )


@asynccontextmanager
async def gate(
    folder: Path,
    *servers: DeclaredServer,
    callers: Mapping[str, Caller] | None = None,
    may_ask: Mapping[str, Iterable[AskKind]] | None = None,
    sandbox: UsableSandbox | NoSandbox | None = None,
    **given: Any,  # noqa: ANN401 - settings
) -> AsyncIterator[Gate]:
    """A guard in front of these servers. A person has approved all of them that could be inspected, and they run."""
    given = {"upstreams__networks": ["127.0.0.0/8"], "listen": "127.0.0.1:0"} | given
    settings, clock = with_a_store(settings_for(folder, **given)), FakeClock()
    with watched(places.database(settings)):
        async with (
            running(settings, clock, new_id, servers, callers, sandbox=sandbox, cost=CHEAP) as now,
            listening(now, clock, new_id) as where,
            httpx2.AsyncClient(verify=NO_TLS, trust_env=False, timeout=PATIENCE) as http,
        ):
            asks = may_ask or {}
            wanted = [one.name for one in servers if one.enabled]
            failed = {name: await approved(now, name, asks.get(name, ())) for name in wanted}
            await taken_in(now, [name for name in wanted if not failed[name]])
            yield Gate(now, where, clock, http)
