"""Opens the connections to remote servers.

Rules kept here:
1. Names are resolved and checked by `addresses`, and only checked addresses are dialled, one after the other. TLS still
   verifies the name in the URL. Proxies from the environment are never used.
2. The guard never connects to its own listeners: the peer of a connection is checked before a byte is sent.
3. Each server has at most one name resolution in progress. The threads that resolve names are few and shared, and a
   slow name server must not occupy all of them.
4. The head and the body of a request are sent together; a failed connection reports whether anything may have been
   sent.
5. The bytes before the head of a response are limited, and so is the number of informational heads (1xx).
6. However much a server sends, and over however many connections, reading it does not starve other servers
   (`fair_reading`).
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
from mcpguard.upstreams.process.fair_reading import ConnectionTurns, Work
from mcpguard.upstreams.transports.addresses import Address, ForbiddenAddress, Network, allowed_addresses

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
    """The settings for all servers: allowed networks, the guard's own listeners, and trusted certificates.

    `forbidden` is read whenever a connection is made, so it may be filled as listeners are opened.
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
        """Return the TLS context with the host's certificates. Reading them is slow: it happens once, in a thread."""
        if self._trust is None:
            self._trust = await to_thread.run_sync(_of_this_machine)
        return self._trust

    def is_ours(self, stream: SocketStream) -> bool:
        """Tell whether a connection leads to one of the guard's own listeners."""
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
        # One resolution at a time for each server: a thread waits for a slow name server, and there are few threads.
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
                stream = await self.dial(host, port)
        except TimeoutError:
            raise Unsent(f"connecting to {host} timed out") from None
        except ForbiddenAddress as error:
            raise Unsent(str(error)) from error
        return Wire(stream, host, Work(self._turns))

    async def dial(self, host: str, port: int) -> SocketStream:
        """Connect to a checked address of the host. Raises ForbiddenAddress or Unsent."""
        return await self._first(await self._addresses(host, port), host, port)

    async def _addresses(self, host: str, port: int) -> tuple[Address, ...]:
        """Return the checked addresses of the host. Calls that wait for the same resolution share its result."""
        # Only a result that came after this call began is shared: an older one may be out of date.
        asked_at = self._resolutions
        async with self._resolving:
            if self._resolved is None or asked_at == self._resolutions or self._resolved[:2] != (host, port):
                self._resolved = host, port, await allowed_addresses(host, port, self._dialing.allowed)
                self._resolutions += 1
            return self._resolved[2]

    async def _first(self, addresses: tuple[Address, ...], host: str, port: int) -> SocketStream:
        """Connect to the first address that accepts. A silent address uses up only its share of the time."""
        for number, address in enumerate(addresses):
            # The time is divided among the addresses that are left: one that drops packets must not use it up for all.
            left = anyio.current_effective_deadline() - anyio.current_time()
            with anyio.move_on_after(left / (len(addresses) - number)):
                try:
                    stream = await anyio.connect_tcp(str(address), port)
                except OSError:
                    continue
                return await self._judged(stream, host)
        raise Unsent(f"{host} does not accept connections on port {port}")

    async def _judged(self, stream: SocketStream, host: str) -> SocketStream:
        # An allowed address may be one of this host, with one of the guard's own listeners behind it: calls would go
        # round in circles. Only the open connection shows where it really leads.
        async with AsyncExitStack() as otherwise:
            otherwise.push_async_callback(aclose_forcefully, stream)
            try:
                ours = self._dialing.is_ours(stream)
            except OSError as error:
                raise Unsent(f"{host} closed the connection immediately") from error
            if ours:
                raise ForbiddenAddress(f"{host} leads to mcpguard itself; use the URL of the MCP server")
            otherwise.pop_all()
        return stream


class Wire(httpcore2.AsyncNetworkStream):
    """One connection. Written bytes are sent when something is read, or when they exceed a limit."""

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
            except _WRITE:  # a server may answer and close before it has read the whole request
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
        """Note that the head of the answer is complete and its body follows."""
        self._in_head = False

    def _look_at_head(self, data: bytes) -> None:
        """Count the bytes and heads before the answer's body. Raises RemoteProtocolError beyond the limits."""
        final = _FINAL.search(data)
        self._head_bytes += len(data)
        self._informational += len(_INFORMATIONAL.findall(data, 0, final.start() if final else len(data)))
        if self._head_bytes > LONGEST_HEAD + HEAD_CHUNK or self._informational > MOST_INFORMATIONAL:
            raise httpcore2.RemoteProtocolError("too many bytes or heads before the answer")

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109, ARG002
        if not self._in_head or not self._unsent:
            self._expect_head()
        self._unsent += buffer
        # Beyond this size head and body are not worth joining, and the memory would be held twice.
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
        raise Unsent(f"the TLS handshake with {self._host} timed out")

    async def _encrypted(self, context: ssl.SSLContext, hostname: str | None) -> TLSStream:
        try:
            return await TLSStream.wrap(
                self._stream, server_side=False, hostname=hostname, ssl_context=context, standard_compatible=False
            )
        except ssl.SSLCertVerificationError as error:
            raise Unsent(f"the certificate of {self._host} is invalid: {error.verify_message}") from error
        except ssl.SSLError as error:
            raise Unsent(f"the TLS handshake with {self._host} failed: {_reason(error)}") from error
        except (*_BROKEN, ValueError) as error:
            raise Unsent(f"the TLS handshake with {self._host} failed: it closed the connection") from error

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - the pool's interface
        match info:
            case "ssl_object":
                return _known(self._stream, TLSAttribute.ssl_object)
            case "is_readable":  # data on an idle connection can only be its end
                return self._socket.fileno() < 0 or bool(self._poll.poll(0))
            case _:
                return None


def _reason(error: ssl.SSLError) -> str:
    """Return why TLS failed, in words of the library: no text of a server is repeated."""
    reason = error.reason or "unknown"
    if reason in _OLD_VERSIONS:
        return "it does not support TLS 1.2 or later"
    if reason in _NO_TLS:
        return "it does not speak TLS on this port"
    return _ALERT.sub("", reason).lower().replace("_", " ")


def wire_of(response: httpcore2.Response) -> Wire:
    """Return the connection that an answer came over."""
    wire: Wire = response.extensions["network_stream"]
    return wire


def _end(stream: SocketStream, which: object) -> tuple[Address, int]:
    """Return the address and port of one end. Raises OSError where the other side has disconnected."""
    try:
        known = _known(stream, which)
    except AttributeError:  # the event loop has dropped the socket already, and anyio uses it all the same
        known = None
    if known is None:
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
    host, port = known[:2]
    return _plain(ip_address(str(host).partition("%")[0])), int(port)


def _known(stream: ByteStream, what: Any) -> Any:  # noqa: ANN401 - anyio's attributes have no type
    return stream.extra(what, None)  # noqa: S610 - a stream's, not a query's


def _plain(address: Address) -> Address:
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
