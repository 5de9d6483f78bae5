"""Where connections lead: to addresses that were judged, and to servers that can show who they are."""

import asyncio
import datetime as dt
import select
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute, SocketStream

from mcpguard.upstreams.exchange.endings import NoUsableAnswer, Unsent
from mcpguard.upstreams.transports.dialing import Dialer, Dialing
from tests.patience import PATIENCE
from tests.upstreams.certificates import DAY, Authority
from tests.upstreams.played import LOOPBACK, Played, dialing, played
from tests.upstreams.talking import Talk, modern, talking

pytestmark = pytest.mark.anyio

METADATA = "169.254.169.254"


def world_of(monkeypatch: pytest.MonkeyPatch, *answers: Sequence[str]) -> list[str]:
    """A name server that gives these answers one after the other, the last one for ever. Notes what it was asked."""
    asked: list[str] = []

    async def getaddrinfo(host: str, port: int, **_: object) -> list[object]:
        found = answers[min(len(asked), len(answers) - 1)]
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(anyio, "getaddrinfo", getaddrinfo)
    return asked


@asynccontextmanager
async def listening(serve: Callable[[ByteStream], Awaitable[None]]) -> AsyncIterator[int]:
    """A port on which `serve` takes the connections."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        yield listener.listeners[0].extra(SocketAttribute.local_port)  # noqa: S610 - a stream's, not a query's
        tasks.cancel_scope.cancel()


async def answered(server: Played, talk: Talk) -> None:
    talk.asking("ping")
    await (await server.next("ping")).result()
    assert await talk.outcome() == {}


async def refused(talk: Talk, says: str) -> None:
    talk.asking("tools/call")
    outcome = await talk.outcome()
    assert isinstance(outcome, Unsent)
    assert says in str(outcome)


async def test_what_is_dialled_is_the_address_that_was_judged_and_the_name_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = world_of(monkeypatch, ["127.0.0.1"])
    async with played() as server, talking(f"http://server.example:{server.port}/") as talk:
        await answered(server, talk)
        assert server.heard[0].headers["host"] == f"server.example:{server.port}"
        assert asked == ["server.example"]


async def test_a_name_that_says_something_else_a_moment_later_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: first an address that is allowed, then one of the inside."""
    asked = world_of(monkeypatch, ["127.0.0.1"], [METADATA], ["127.0.0.1", METADATA], ["127.0.0.1"])
    async with played() as server, talking(f"http://server.example:{server.port}/") as talk:
        talk.asking("ping")
        first = await server.next("ping")
        await refused(talk, METADATA)  # the first connection is busy, so there is a second one to be made
        await refused(talk, METADATA)
        await first.result()
        assert await talk.outcome() == {}
        await answered(server, talk)
        assert (len(asked), len(server.heard)) == (3, 2)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", METADATA, "2130706433", "10.0.0.1"])
async def test_nothing_of_the_inside_is_dialled_unless_it_was_allowed(host: str) -> None:
    async with played() as server:
        async with talking(f"http://{host}:{server.port}/", dial=Dialing()) as talk:
            await refused(talk, "not a public address")
        assert server.connections == 0


async def test_our_own_listeners_are_no_servers_however_they_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    world_of(monkeypatch, ["127.0.0.1"])
    async with played() as server, played() as other:
        for listener in ("127.0.0.1", "0.0.0.0"):  # noqa: S104 - to be recognised
            ours = dialing(forbidden={(ip_address(listener), server.port)})
            for host in ("127.0.0.1", "server.example"):
                async with talking(f"http://{host}:{server.port}/", dial=ours) as talk:
                    await refused(talk, "mcpguard itself")
                async with talking(f"http://{host}:{other.port}/", dial=ours) as talk:
                    await answered(other, talk)
        assert server.heard == []


async def test_the_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with played() as server, played() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        async with talking(server) as talk:
            await answered(server, talk)
        assert proxy.connections == 0


async def test_an_address_that_takes_no_connections_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    world_of(monkeypatch, ["127.0.0.2", "127.0.0.3", "127.0.0.1"])
    async with played() as server, talking(f"http://server.example:{server.port}/") as talk:
        await answered(server, talk)


async def test_a_slow_name_server_is_asked_once_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads that resolve names are everybody's."""
    asked, answer = 0, anyio.Event()

    async def getaddrinfo(_: str, port: int, **__: object) -> list[object]:
        nonlocal asked
        asked += 1
        await answer.wait()
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(anyio, "getaddrinfo", getaddrinfo)
    async with played() as server, talking(f"http://server.example:{server.port}/") as talk:
        for _ in range(5):
            talk.asking("ping")
        await anyio.wait_all_tasks_blocked()
        assert asked == 1
        answer.set()
        for _ in range(5):
            await (await server.next("ping")).result()
            assert await talk.outcome() == {}
        assert asked < 5


async def test_a_server_shows_who_it_is_by_the_name_in_the_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world_of(monkeypatch, ["127.0.0.1"])
    authority = Authority(tmp_path)
    dial = dialing(authority.trust)
    async with played(authority.server()) as server, talking(server, dial=dial) as talk:
        await answered(server, talk)
    async with played(authority.server("server.example")) as server:
        async with talking(f"https://server.example:{server.port}/", dial=dial) as talk:
            await answered(server, talk)
        async with talking(f"https://other.example:{server.port}/", dial=dial) as talk:
            await refused(talk, "certificate of other.example is invalid")
        assert len(server.heard) == 1


@pytest.mark.parametrize("wrong", ["unknown", "expired"])
async def test_a_server_that_cannot_is_sent_nothing(wrong: str, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    trust = Authority(tmp_path, "another").trust if wrong == "unknown" else authority.trust
    lasts = DAY if wrong == "unknown" else -dt.timedelta(hours=1)
    async with played(authority.server(lasts=lasts)) as server:
        async with talking(server, dial=dialing(trust)) as talk:
            await refused(talk, "certificate of 127.0.0.1 is invalid")
        assert server.heard == []


async def test_nor_is_one_that_speaks_no_tls() -> None:
    came = []

    async def serve(stream: ByteStream) -> None:
        async with stream:
            came.append(await stream.receive())
            await stream.send(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")

    async with listening(serve) as port, talking(f"https://127.0.0.1:{port}/") as talk:
        await refused(talk, "TLS handshake with 127.0.0.1 failed")
    assert b"tools/call" not in came[0]


async def test_nor_is_one_that_never_agrees_on_it() -> None:
    async def serve(stream: ByteStream) -> None:
        async with stream:
            await anyio.sleep_forever()

    async with listening(serve) as port:
        with pytest.raises(Unsent, match=r"TLS handshake with .* timed out"):
            await Dialer(dialing()).connect(
                "127.0.0.1", port, asyncio.Protocol, ssl.create_default_context(), seconds=0.5
            )


@pytest.mark.parametrize("noticed", [True, False])
async def test_a_server_that_resets_a_connection_as_soon_as_it_has_taken_it_was_told_nothing(
    noticed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one does that is killed. The connection has no other end any more, whether the event loop knows it or not."""
    connect = anyio.connect_tcp

    async def connect_and_be_reset(host: str, port: int) -> SocketStream:
        stream = await connect(host, port)
        taken, _ = listener.accept()
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        taken.close()
        if noticed:
            with pytest.raises(anyio.BrokenResourceError):
                await stream.receive()
        else:
            poll = select.poll()
            poll.register(stream.extra(SocketAttribute.raw_socket), 0)  # noqa: S610 - a stream's, not a query's
            assert poll.poll(PATIENCE * 1000)
        return stream

    monkeypatch.setattr(anyio, "connect_tcp", connect_and_be_reset)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        pytest.raises(Unsent, match="closed the connection immediately"),
    ):
        await Dialer(dialing()).connect("127.0.0.1", listener.getsockname()[1], asyncio.Protocol, None, PATIENCE)


async def test_the_trust_of_this_machine_is_the_default() -> None:
    dial = Dialing(LOOPBACK)
    trust = await dial.trust()
    assert (trust.verify_mode, trust.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert await dial.trust() is trust


async def test_head_and_body_go_out_together() -> None:
    came = []

    async def serve(stream: ByteStream) -> None:
        async with stream:
            came.append(await stream.receive())

    async with listening(serve) as port, talking(f"http://127.0.0.1:{port}/") as talk:
        talk.asking("tools/call", {"name": "x"})
        await talk.outcome()
    assert came[0].startswith(b"POST / HTTP/1.1\r\n")
    assert came[0].endswith(b'"params":{"name":"x"}}')


async def test_a_redirection_leads_through_the_same_gates(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with played() as plain, played(authority.server()) as server:
        async with modern(server, dial=dialing(authority.trust)) as talk:
            for location, says in [
                (f"http://{METADATA}/latest/meta-data", "without TLS"),
                (f"https://{METADATA}/latest/meta-data", "another host"),
                (plain.url, "without TLS"),
                ("https://[::1]/", "another host"),
            ]:
                talk.asking("tools/call")
                await (await server.next()).answer(307, b"", f"Location: {location}")
                outcome = await talk.outcome()
                assert isinstance(outcome, NoUsableAnswer)
                assert says in str(outcome)
                await answered(server, talk)
        assert plain.connections == 0
