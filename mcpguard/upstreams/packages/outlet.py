"""The way from an installation to the network: a proxy of its own, which judges where each connection leads.

What a package needs, and where a registry says that a file is, are somebody else's words. Followed as they stand, they
would have this machine ask its own services, its network, or what hands out credentials in a cloud.

Rules kept here:
1. A name is resolved and judged as that of a remote server is (`addresses`), and what was judged is dialled. The
   registries that the guard's own account names, and everybody's, may be inside. Listeners of the guard's own are never
   reached.
2. The first that leads elsewhere ends the installation: `judging` says where it led.
3. It is for this installation alone, which knows its password. Without TLS it only fetches; what TLS carries passes
   unread.
4. It takes no more of the guard's time than a server may (`sharing`).
"""

import base64
import secrets
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from mcpguard.domain.errors import GuardError
from mcpguard.upstreams.exchange.endings import Unsent
from mcpguard.upstreams.packages.sources import Origin
from mcpguard.upstreams.process.sharing import ConnectionTurns, Work
from mcpguard.upstreams.transports.addresses import ForbiddenAddress
from mcpguard.upstreams.transports.dialing import CHUNK, CONNECT_SECONDS, Dialer, Dialing
from mcpguard.upstreams.transports.remotes import BadRemote, RemotePlace, place

LONGEST_HEAD: Final = 65_536
MOST_CONNECTIONS: Final = 256
FETCHED: Final = frozenset({"GET", "HEAD"})
EVERYWHERE: Final = (ip_network("0.0.0.0/0"), ip_network("::/0"))
_BROKEN: Final = (
    *(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError),
    *(anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound),
)
_OF_A_CONNECTION: Final = frozenset(
    {b"connection", b"host", b"keep-alive", b"proxy-authorization", b"proxy-connection"}
)


class _Refused(Exception):
    """What was asked for is not done; with the status that says so."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request for somewhere else: where that is, and what is said there first; None where TLS follows."""

    there: RemotePlace
    head: bytes | None


class Outlet:
    """`url` is how an installer reaches it."""

    def __init__(self, dialing: Dialing, registries: Collection[Origin]) -> None:
        self.url = ""
        self._password = secrets.token_hex(16)
        self._registries = registries
        self._judged = Dialer(dialing)
        self._anywhere = Dialer(Dialing(EVERYWHERE, dialing.forbidden))
        self._turns = ConnectionTurns()
        self._open = 0
        self._why = ""
        self._led_elsewhere = anyio.Event()

    async def judging(self, _: int) -> str:
        """Why it has to end, once it has to."""
        await self._led_elsewhere.wait()
        return f"its installation leads to where nothing is fetched from: {self._why}"

    def listens(self, port: int) -> None:
        self.url = f"http://installation:{self._password}@127.0.0.1:{port}"

    async def serve(self, here: SocketStream) -> None:
        async with here:
            if self._open >= MOST_CONNECTIONS:
                return
            self._open += 1
            try:
                await self._serve(here)
            except _Refused as error:
                await _say(here, b"HTTP/1.1 %d Refused\r\nContent-Length: 0\r\n\r\n" % error.status)
            except _BROKEN:
                return
            finally:
                self._open -= 1

    async def _serve(self, here: SocketStream) -> None:
        coming = BufferedByteReceiveStream(here)
        with anyio.fail_after(CONNECT_SECONDS):
            asked = _read(await coming.receive_until(b"\r\n\r\n", LONGEST_HEAD), self._authorization)
        async with await self._dialled(asked.there) as there:
            if asked.head is None:
                await here.send(b"HTTP/1.1 200 Connected\r\n\r\n")
            else:
                await there.send(asked.head)
            async with anyio.create_task_group() as both:

                async def outwards() -> None:
                    if asked.head is None:
                        await self._pass_on(coming, there)
                    else:  # one request was judged, and there is no other on this connection
                        await _until_it_speaks(coming)
                    both.cancel_scope.cancel()

                both.start_soon(outwards)
                await self._pass_on(there, here)
                both.cancel_scope.cancel()

    @property
    def _authorization(self) -> bytes:
        return b"Basic " + base64.b64encode(f"installation:{self._password}".encode())

    async def _dialled(self, there: RemotePlace) -> SocketStream:
        dialer = self._anywhere if (there.host, there.port) in self._registries else self._judged
        try:
            with anyio.fail_after(CONNECT_SECONDS):
                return await dialer.dialled(there.host, there.port)
        except ForbiddenAddress as error:
            self._why = self._why or str(error)
            self._led_elsewhere.set()
            raise _Refused(403) from error
        except (Unsent, TimeoutError) as error:
            raise _Refused(502) from error

    async def _pass_on(self, source: ByteReceiveStream, sink: SocketStream) -> None:
        """Until one of the two has ended."""
        work = Work(self._turns)
        try:
            while True:
                await work.give_way()
                work.wait()
                data = await source.receive(CHUNK)
                work.come()
                await sink.send(data)
        except _BROKEN:
            return


@asynccontextmanager
async def outlet(dialing: Dialing, registries: Collection[Origin]) -> AsyncIterator[Outlet]:
    """One that listens on loopback. `registries` are those that count wherever they are."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    wrong: GuardError | OSError | None = None
    async with listener, anyio.create_task_group() as tasks:
        one = Outlet(dialing, registries)
        one.listens(listener.listeners[0].extra(SocketAttribute.local_port))  # noqa: S610 - a stream's, not a query's
        tasks.start_soon(listener.serve, one.serve, name="the way of an installation to the network")
        try:
            yield one
        except (GuardError, OSError) as error:  # raised below, as it is and not in a group
            wrong = error
        tasks.cancel_scope.cancel()
    if wrong is not None:
        raise wrong


def _read(head: bytes, authorization: bytes) -> _Asked:
    """Raises _Refused for whatever is not plainly a request of an installer."""
    line, *fields = head.split(b"\r\n")
    named = [(name.strip().lower(), value.strip()) for name, _, value in (each.partition(b":") for each in fields)]
    if (b"proxy-authorization", authorization) not in named:
        raise _Refused(407)
    try:
        method, target, _ = line.decode("ascii").split(" ")
        there = place(f"https://{target}" if method == "CONNECT" else target)
    except (BadRemote, ValueError) as error:
        raise _Refused(400) from error
    if method == "CONNECT":
        return _Asked(there, None)
    if method not in FETCHED or there.scheme != "http":
        raise _Refused(405)
    kept = [each for each, (name, _) in zip(fields, named, strict=True) if name not in _OF_A_CONNECTION]
    ours = (f"Host: {there.authority}".encode(), b"Connection: close")
    return _Asked(there, b"\r\n".join((f"{method} {there.target} HTTP/1.1".encode(), *ours, *kept, b"", b"")))


async def _until_it_speaks(coming: ByteReceiveStream) -> None:
    try:
        await coming.receive(1)
    except _BROKEN:
        return


async def _say(stream: SocketStream, what: bytes) -> None:
    try:
        await stream.send(what)
        await stream.send_eof()
    except _BROKEN:
        return
