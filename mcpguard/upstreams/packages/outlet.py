"""The proxy through which an installation reaches the network, and which checks the target of each connection.

A package chooses its dependencies, and a registry chooses the URLs of files. Followed blindly, they would make this
host send requests to its own services, its network, or a cloud's metadata service (SSRF).

Rules kept here:
1. A name is resolved and checked like that of a remote server (`addresses`), and the proxy connects to the checked
   address. Only the registries configured for the guard's own account, and the public ones, may have private addresses.
   The guard's own listeners are never reached.
2. The first connection to a forbidden address ends the installation; `watch` returns that address as the reason.
3. The proxy serves one installation alone, which knows its password. Without TLS only reads pass (GET, HEAD); TLS
   traffic passes unread.
4. It takes no more of the guard's time than a server may (`fair_reading`).
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
from mcpguard.upstreams.process.fair_reading import ConnectionTurns, Work
from mcpguard.upstreams.transports.addresses import ForbiddenAddress
from mcpguard.upstreams.transports.dialing import CHUNK, CONNECT_SECONDS, Dialer, Dialing
from mcpguard.upstreams.transports.remotes import BadRemote, RemotePlace, parse_url

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
    """A request of the installer is refused, with this HTTP status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class _ProxyRequest:
    """A request of the installer: its target, and the head to send there; None where TLS follows."""

    there: RemotePlace
    head: bytes | None


class Outlet:
    """The proxy of one installation. `url` is how the installer reaches it."""

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

    async def watch(self, _: int) -> str:
        """Return why the installation has to end, once a connection led to a forbidden address."""
        await self._led_elsewhere.wait()
        return f"the installation was blocked, because it connects to a forbidden address: {self._why}"

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
                    else:
                        # One request was checked. A second one on the same connection could name another host, so
                        # whatever the installer sends now ends the connection.
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
                return await dialer.dial(there.host, there.port)
        except ForbiddenAddress as error:
            self._why = self._why or str(error)
            # The first one ends the installation: going on would let a package probe the network address by address.
            self._led_elsewhere.set()
            raise _Refused(403) from error
        except (Unsent, TimeoutError) as error:
            raise _Refused(502) from error

    async def _pass_on(self, source: ByteReceiveStream, sink: SocketStream) -> None:
        """Copy bytes until either side has closed."""
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
    """Run a proxy on loopback. `registries` may be reached wherever they are."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    wrong: GuardError | OSError | None = None
    async with listener, anyio.create_task_group() as tasks:
        one = Outlet(dialing, registries)
        one.listens(listener.listeners[0].extra(SocketAttribute.local_port))  # noqa: S610 - a stream's, not a query's
        tasks.start_soon(listener.serve, one.serve, name="the way of an installation to the network")
        try:
            yield one
        except (GuardError, OSError) as error:  # raised below: here the task group would wrap it
            wrong = error
        tasks.cancel_scope.cancel()
    if wrong is not None:
        raise wrong


def _read(head: bytes, authorization: bytes) -> _ProxyRequest:
    """Parse the head of a request. Raises _Refused for everything but a plain request of the installer."""
    line, *fields = head.split(b"\r\n")
    named = [(name.strip().lower(), value.strip()) for name, _, value in (each.partition(b":") for each in fields)]
    # Every local process can connect to loopback. Without the password it could use the guard as its way out.
    if (b"proxy-authorization", authorization) not in named:
        raise _Refused(407)
    try:
        method, target, _ = line.decode("ascii").split(" ")
        there = parse_url(f"https://{target}" if method == "CONNECT" else target)
    except (BadRemote, ValueError) as error:
        raise _Refused(400) from error
    if method == "CONNECT":
        return _ProxyRequest(there, None)
    # A method that writes would let a package send what it found, with the guard as the sender.
    if method not in FETCHED or there.scheme != "http":
        raise _Refused(405)
    # Headers about the connection end here: the password of this proxy must not reach a registry.
    kept = [each for each, (name, _) in zip(fields, named, strict=True) if name not in _OF_A_CONNECTION]
    ours = (f"Host: {there.authority}".encode(), b"Connection: close")
    return _ProxyRequest(there, b"\r\n".join((f"{method} {there.target} HTTP/1.1".encode(), *ours, *kept, b"", b"")))


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
