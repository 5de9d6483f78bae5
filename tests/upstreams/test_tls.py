"""Servers whose TLS is not to be trusted: each is sent nothing, and it is said what is wrong with it."""

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute

from mcpguard.upstreams.exchange.endings import NoUsableAnswer, Unsent
from mcpguard.upstreams.transports.dialing import Dialer, Dialing
from tests.upstreams.certificates import DAY, FOR_CLIENTS, Authority
from tests.upstreams.played import GONE, LOOPBACK, dialing, played
from tests.upstreams.talking import Talk, talking

pytestmark = pytest.mark.anyio
TOO_OLD = "it does not support TLS 1.2 or later"
OLD_HELLO = bytes.fromhex("160301002a020000260301") + bytes(32) + bytes.fromhex("00c01300")
"""A server's greeting in TLS 1.0."""
SECRETS = {"Authorization": "Bearer canary", "X-Api-Key": "canary"}


class Wire:
    """What came in on a port, as it came."""

    def __init__(self) -> None:
        self.port = 0
        self.heard = b""

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}/mcp"


@asynccontextmanager
async def speaking(says: bytes, *, stays: bool = False) -> AsyncIterator[Wire]:
    """A server that says this to whatever comes first."""
    wire = Wire()

    async def serve(stream: ByteStream) -> None:
        async with stream:
            with suppress(*GONE):
                wire.heard += await stream.receive()
                await stream.send(says)
                while stays:
                    wire.heard += await stream.receive()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        wire.port = listener.listeners[0].extra(SocketAttribute.local_port)  # noqa: S610 - a stream's, not a query's
        yield wire
        tasks.cancel_scope.cancel()


async def unsent(talk: Talk, says: str) -> None:
    talk.asking("tools/call", {"name": "x", "arguments": {"secret": "canary"}})
    outcome = await talk.outcome()
    assert isinstance(outcome, Unsent)
    assert says in str(outcome)


Made = Callable[[Path], tuple[ssl.SSLContext, ssl.SSLContext]]
"""The context of a server, and whom its client trusts."""


def expired(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    authority = Authority(folder)
    return authority.server(lasts=-dt.timedelta(hours=1)), authority.trust


def of_the_future(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    authority = Authority(folder)
    return authority.server(begins=DAY / 2), authority.trust


def of_another_name(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    authority = Authority(folder)
    return authority.server("localhost"), authority.trust


def of_an_unknown_authority(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    return Authority(folder).server(), Authority(folder, "another").trust


def signed_by_itself(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    return Authority(folder).server_by_itself(), Authority(folder, "another").trust


def by_a_server(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Whoever has a certificate cannot make others of it."""
    authority = Authority(folder)
    return authority.server_by_another(), authority.trust


def for_clients(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    authority = Authority(folder)
    return authority.server(usage=FOR_CLIENTS), authority.trust


WRONG: dict[str, tuple[Made, str]] = {
    "expired": (expired, "certificate has expired"),
    "of the future": (of_the_future, "certificate is not yet valid"),
    "of another name": (of_another_name, "IP address mismatch"),
    "of an unknown authority": (of_an_unknown_authority, "unable to get local issuer certificate"),
    "signed by itself": (signed_by_itself, "self-signed certificate"),
    "made by a server": (by_a_server, "invalid CA certificate"),
    "for clients": (for_clients, "unsuitable certificate purpose"),
}


@pytest.mark.parametrize(("made", "why"), WRONG.values(), ids=WRONG.keys())
async def test_a_certificate_that_is_wrong_is_named_and_gets_nothing(made: Made, why: str, tmp_path: Path) -> None:
    context, trust = made(tmp_path)
    async with played(context) as server:
        async with talking(server, SECRETS, dial=dialing(trust)) as talk:
            await unsent(talk, f"the certificate of 127.0.0.1 is invalid: {why}")
        assert server.heard == []
        assert server.connections == 0


async def test_a_certificate_that_is_exchanged_counts_from_the_next_connection_on(tmp_path: Path) -> None:
    """Nothing is remembered of the one before."""
    authority = Authority(tmp_path)
    dial = dialing(authority.trust)
    async with played(authority.server()) as server, talking(server, SECRETS, dial=dial) as talk:
        talk.asking("ping")
        first = await server.next("ping")
        server.tls = Authority(tmp_path, "another").server()
        await unsent(talk, "certificate of 127.0.0.1 is invalid")  # the first connection is busy
        await first.result()
        assert await talk.outcome() == {}
        assert len(server.heard) == 1


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "it does not speak TLS on this port"),
        (b"\x15\x03\x03\x00\x02\x02\x28", "handshake failure"),
        (b"\x15\x03\x01\x00\x02\x02\x46", TOO_OLD),
        (OLD_HELLO, TOO_OLD),
        (b"", "it closed the connection"),
        (bytes(100_000), "it does not speak TLS on this port"),
    ],
    ids=["HTTP", "an alert", "an alert of an old one", "TLS 1.0", "nothing", "rubbish"],
)
async def test_what_does_not_agree_on_tls_hears_a_greeting_and_no_more(says: bytes, why: str) -> None:
    async with speaking(says) as wire:
        async with talking(wire.url, SECRETS) as talk:
            await unsent(talk, f"the TLS handshake with 127.0.0.1 failed: {why}")
        assert wire.heard.startswith(b"\x16\x03")
        assert b"canary" not in wire.heard
        assert b"tools/call" not in wire.heard


async def test_one_that_stalls_in_the_handshake_holds_up_nobody_else(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    dial = dialing(authority.trust)
    async with (
        speaking(b"\x16\x03\x03\x40\x00", stays=True) as wire,
        played(authority.server()) as other,
        talking(wire.url, SECRETS, dial=dial) as stalled,
        talking(other, dial=dial) as talk,
    ):
        stalled.asking("tools/call")
        for _ in range(3):
            talk.asking("ping")
            await (await other.next("ping")).result()
            assert await talk.outcome() == {}
        with pytest.raises(Unsent, match=r"TLS handshake with .* timed out"):
            await Dialer(dial).connect("127.0.0.1", wire.port, asyncio.Protocol, authority.trust, seconds=0.5)
        assert b"canary" not in wire.heard


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirection_leads_from_tls_to_none(status: int, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with played() as plain, played(authority.server()) as server:
        async with talking(server, SECRETS, dial=dialing(authority.trust)) as talk:
            talk.asking("tools/call", {"name": "x"})
            await (await server.next()).answer(status, b"", f"Location: {plain.url}")
            assert isinstance(await talk.outcome(), Exception)
            talk.asking("ping")
            await (await server.next("ping")).result()
            assert await talk.outcome() == {}
        assert plain.connections == 0


async def test_an_answer_that_breaks_off_is_none(tmp_path: Path) -> None:
    """Also where it is cut without TLS being told, as somebody on the way can do."""
    authority = Authority(tmp_path)
    async with played(authority.server()) as server, talking(server, dial=dialing(authority.trust)) as talk:
        talk.asking("tools/call", {"name": "x"})
        first = await server.next()
        await first.head(200, "Content-Type: application/json", "Content-Length: 1000")
        await first.raw(b'{"jsonrpc": "2.0", "id": 1, "result": {}}')
        await first.cut()
        assert isinstance(await talk.outcome(), NoUsableAnswer)


async def test_an_authority_of_ones_own_is_named_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    async with played(authority.server()) as server:
        async with talking(server, dial=Dialing(LOOPBACK)) as talk:
            await unsent(talk, "unable to get local issuer certificate")
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        async with talking(server, dial=Dialing(LOOPBACK, ssl_context=ssl.create_default_context())) as talk:
            talk.asking("ping")
            await (await server.next("ping")).result()
            assert await talk.outcome() == {}


async def test_nobody_gets_a_certificate_of_ours(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    context = authority.server()
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # then it is asked for before anything else is said
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.file)
    async with played(context) as server:
        async with talking(server, SECRETS, dial=dialing(authority.trust)) as talk:
            await unsent(talk, "the TLS handshake with ")
        assert server.heard == []
