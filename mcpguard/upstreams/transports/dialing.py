"""How connections to remote servers are made.

Rules kept here:
1. A name is resolved and judged by `addresses`, and only addresses that were judged are dialled, one after the other.
   TLS verifies the name of the URL all the same. No proxy that the environment names is ever used.
2. What the guard itself listens on is no server: where a connection really leads is asked of it, before a byte is sent.
3. Of one server at most one name is being resolved at a time. The threads that resolve are few and everybody's, and a
   name server that answers slowly must not keep all of them.
4. The head and the body of a request go out together; a connection that fails says whether anything can have left us.
5. Before the head of an answer only so much is read, and only so many heads that announce another.
6. However much a server says, and on however many connections, reading it leaves the others their time (`sharing`).
"""

import errno
import os
import re
import select
import ssl
from collections.abc import Collection, Iterable
from contextlib import AsyncExitStack
from functools import cache
from ipaddress import IPv6Address, ip_address
from typing import Any

import anyio
import httpcore2
from anyio import aclose_forcefully, to_thread
from anyio.abc import ByteStream, SocketAttribute, SocketStream
from anyio.streams.tls import TLSAttribute, TLSStream

from mcpguard.upstreams.exchange.endings import Unsent
from mcpguard.upstreams.process.sharing import ConnectionTurns, Work
from mcpguard.upstreams.transports.addresses import Address, ForbiddenAddress, Network, checked

CONNECT_SECONDS = 10.0
CHUNK = 32_768
TOGETHER = 65_536
HEAD_CHUNK = 8_192
LONGEST_HEAD = 102_400
MOST_INFORMATIONAL = 16
_OLD_VERSIONS = frozenset({"UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION", "VERSION_TOO_LOW"})
_NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"})
_ALERT = re.compile("^(SSLV3|TLSV1|TLSV13)_ALERT_")
_FINAL = re.compile(rb"(?:\A|\n)HTTP/1\.[0-9] [2-9]")
_INFORMATIONAL = re.compile(rb"(?:\A|\n)HTTP/1\.[0-9] 1")
_READ = httpcore2.ReadError
_WRITE = httpcore2.WriteError
_BROKEN = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


class Dialing:
    """What holds for all servers: the networks that the operator allowed, our own listeners, and whom TLS trusts.

    `forbidden` is looked at whenever a connection is made, so it may be filled as listeners are opened.
    """

    def __init__(
        self,
        allowed: Collection[Network] = (),
        forbidden: Collection[tuple[Address, int]] = (),
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.allowed = allowed
        self.forbidden = forbidden
        self._trust = ssl_context

    async def trust(self) -> ssl.SSLContext:
        """Whom TLS trusts: what this machine trusts. Reading that takes a while, so it is done once and aside."""
        if self._trust is None:
            self._trust = await to_thread.run_sync(_of_this_machine)
        return self._trust

    def is_ours(self, stream: SocketStream) -> bool:
        """Whether a connection leads to a listener of our own."""
        there, port = _end(stream, SocketAttribute.remote_address)
        here, _ = _end(stream, SocketAttribute.local_address)
        return any(
            port == its_port and (_plain(address) == there or (address.is_unspecified and here == there))
            for address, its_port in self.forbidden
        )


@cache
def _of_this_machine() -> ssl.SSLContext:
    return ssl.create_default_context()


class Dialer(httpcore2.AsyncNetworkBackend):
    """Makes the connections to one server."""

    def __init__(self, dialing: Dialing) -> None:
        self._dialing = dialing
        self._turns = ConnectionTurns()
        self._resolving = anyio.Lock()
        self._resolutions = 0
        self._resolved: tuple[str, int, tuple[Address, ...]] | None = None

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the pool's interface
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        try:
            with anyio.fail_after(timeout):
                stream = await self.dialled(host, port)
        except TimeoutError:
            raise Unsent(f"{host} could not be reached in time") from None
        except ForbiddenAddress as error:
            raise Unsent(str(error)) from error
        return Wire(stream, host, Work(self._turns))

    async def dialled(self, host: str, port: int) -> SocketStream:
        """A connection to an address that was judged. Raises ForbiddenAddress or Unsent."""
        return await self._first(await self._addresses(host, port), host, port)

    async def _addresses(self, host: str, port: int) -> tuple[Address, ...]:
        """Whoever waits while the same name is being resolved takes what comes of that."""
        asked_at = self._resolutions
        async with self._resolving:
            if self._resolved is None or asked_at == self._resolutions or self._resolved[:2] != (host, port):
                self._resolved = host, port, await checked(host, port, self._dialing.allowed)
                self._resolutions += 1
            return self._resolved[2]

    async def _first(self, addresses: tuple[Address, ...], host: str, port: int) -> SocketStream:
        """A connection to the first address that takes one. An address that says nothing uses up its share of time."""
        for number, address in enumerate(addresses):
            left = anyio.current_effective_deadline() - anyio.current_time()
            with anyio.move_on_after(left / (len(addresses) - number)):
                try:
                    stream = await anyio.connect_tcp(str(address), port)
                except OSError:
                    continue
                return await self._judged(stream, host)
        raise Unsent(f"{host} does not take connections on port {port}")

    async def _judged(self, stream: SocketStream, host: str) -> SocketStream:
        async with AsyncExitStack() as otherwise:
            otherwise.push_async_callback(aclose_forcefully, stream)
            try:
                ours = self._dialing.is_ours(stream)
            except OSError as error:
                raise Unsent(f"{host} closed the connection at once") from error
            if ours:
                raise ForbiddenAddress(f"{host} leads to this guard itself, which is no server")
            otherwise.pop_all()
        return stream


class Wire(httpcore2.AsyncNetworkStream):
    """One connection. What is written goes out when something is read, or when it has become much."""

    def __init__(self, stream: ByteStream, host: str, work: Work) -> None:
        self.work = work
        self._stream = stream
        self._host = host
        self._unsent = bytearray()
        self._in_head = True
        self._head_bytes = 0
        self._informational = 0
        self._socket = _known(stream, SocketAttribute.raw_socket)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109, ARG002
        if self._unsent:
            try:
                await self._send()
            except _WRITE:  # a server may answer and close before it has read everything
                self._unsent.clear()
        await self.work.give_way()
        self.work.wait()
        try:
            data = await self._stream.receive(min(max_bytes, HEAD_CHUNK if self._in_head else CHUNK))
        except anyio.EndOfStream:
            return b""
        except _BROKEN as error:
            raise _READ from error
        finally:
            self.work.come()
        if self._in_head:
            self._look_at_head(data)
        return data

    def has_head(self) -> None:
        """The head of the answer has come, so what follows is its body."""
        self._in_head = False

    def _look_at_head(self, data: bytes) -> None:
        """Raises an error for more than is read before the head of the answer has come to its end."""
        final = _FINAL.search(data)
        self._head_bytes += len(data)
        self._informational += len(_INFORMATIONAL.findall(data, 0, final.start() if final else len(data)))
        if self._head_bytes > LONGEST_HEAD + HEAD_CHUNK or self._informational > MOST_INFORMATIONAL:
            raise httpcore2.RemoteProtocolError("there is no end to what comes before the answer")

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109, ARG002
        if not self._in_head or not self._unsent:
            self._expect_head()
        self._unsent += buffer
        if len(self._unsent) > TOGETHER:
            await self._send()

    def _expect_head(self) -> None:
        self.work.begin()
        self._in_head = True
        self._head_bytes = self._informational = 0

    async def _send(self) -> None:
        data = bytes(self._unsent)
        self._unsent.clear()
        try:
            await self._stream.send(data)
        except _BROKEN as error:
            raise _WRITE from error

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the pool's interface
    ) -> "Wire":
        async with AsyncExitStack() as otherwise:
            otherwise.push_async_callback(aclose_forcefully, self._stream)
            with anyio.move_on_after(timeout):
                stream = await self._encrypted(ssl_context, server_hostname)
                otherwise.pop_all()
                return Wire(stream, self._host, self.work)
        raise Unsent(f"{self._host} did not agree on TLS in time")

    async def _encrypted(self, context: ssl.SSLContext, hostname: str | None) -> TLSStream:
        try:
            return await TLSStream.wrap(
                self._stream, server_side=False, hostname=hostname, ssl_context=context, standard_compatible=False
            )
        except ssl.SSLCertVerificationError as error:
            raise Unsent(f"the certificate of {self._host} is not accepted: {error.verify_message}") from error
        except ssl.SSLError as error:
            raise Unsent(f"{self._host} does not agree on TLS: {_reason(error)}") from error
        except (*_BROKEN, ValueError) as error:
            raise Unsent(f"{self._host} does not agree on TLS: it closed the connection") from error

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - the pool's interface
        match info:
            case "ssl_object":
                return _known(self._stream, TLSAttribute.ssl_object)
            case "is_readable":  # something has come though nothing was asked: that can only be the end
                return self._socket.fileno() < 0 or bool(self._poll.poll(0))
            case _:
                return None


def _reason(error: ssl.SSLError) -> str:
    """Why there is no TLS. It is a word of the library's: nothing that a server says is repeated."""
    reason = error.reason or "unknown"
    if reason in _OLD_VERSIONS:
        return "it has no version that is new enough (1.2 or later)"
    if reason in _NO_TLS:
        return "what it says is not TLS"
    return _ALERT.sub("", reason).lower().replace("_", " ")


def wire_of(response: httpcore2.Response) -> Wire:
    """The connection that an answer came over."""
    wire: Wire = response.extensions["network_stream"]
    return wire


def _end(stream: SocketStream, which: object) -> tuple[Address, int]:
    """Raises OSError where the other side has gone: then nothing is known of it."""
    try:
        known = _known(stream, which)
    except AttributeError:  # the event loop has noticed and let go of the socket, which anyio asks all the same
        known = None
    if known is None:
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
    host, port = known[:2]
    return _plain(ip_address(str(host).partition("%")[0])), int(port)


def _known(stream: ByteStream, what: Any) -> Any:  # noqa: ANN401 - anyio's attributes have no type
    return stream.extra(what, None)  # noqa: S610 - a stream's, not a query's


def _plain(address: Address) -> Address:
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
