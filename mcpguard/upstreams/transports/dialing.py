"""Opens the connections to remote servers.

Rules kept here:
1. Names are resolved and checked by `addresses`, and only checked addresses are dialled, one after the other. TLS still
   verifies the name in the URL. Proxies from the environment are never used.
2. The guard never connects to its own listeners: the peer of a connection is checked before a byte is sent.
3. Each server has at most one name resolution in progress. The threads that resolve names are few and shared, and a
   slow name server must not occupy all of them.
4. A connection that cannot be made reports that nothing was sent.
5. However many connections a server has, they share one turn (`fair_reading`).
"""

import asyncio
import errno
import os
import re
import socket
import ssl
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack, ExitStack
from functools import cache
from ipaddress import IPv6Address, ip_address
from typing import Any, TypeVar

import anyio
from anyio import aclose_forcefully, to_thread
from anyio.abc import ByteStream, SocketAttribute, SocketStream

from mcpguard.upstreams.exchange.endings import Unsent
from mcpguard.upstreams.process.fair_reading import ConnectionTurns
from mcpguard.upstreams.transports.addresses import Address, ForbiddenAddress, Network, allowed_addresses

CONNECT_SECONDS = 10.0
CHUNK = 32_768
_OLD_VERSIONS = frozenset({"UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION", "VERSION_TOO_LOW"})
_NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"})
_ALERT = re.compile("^(SSLV3|TLSV1|TLSV13)_ALERT_")
Made = TypeVar("Made", bound=asyncio.BaseProtocol)


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


class Dialer:
    """Makes the connections to one server."""

    def __init__(self, dialing: Dialing) -> None:
        self.turns = ConnectionTurns()
        self._dialing = dialing
        # One resolution at a time for each server: a thread waits for a slow name server, and there are few threads.
        self._resolving = anyio.Lock()
        self._resolutions = 0
        self._resolved: tuple[str, int, tuple[Address, ...]] | None = None

    async def connect(
        self,
        host: str,
        port: int,
        make: Callable[[], Made],
        trust: ssl.SSLContext | None,
        seconds: float = CONNECT_SECONDS,
    ) -> Made:
        """Connect to a checked address of the host, and with `trust` agree on TLS. Returns the protocol.

        Raises Unsent.
        """
        try:
            with anyio.fail_after(seconds):
                stream = await self.dial(host, port)
        except TimeoutError:
            raise Unsent(f"connecting to {host} timed out") from None
        except ForbiddenAddress as error:
            raise Unsent(str(error)) from error
        try:
            with anyio.fail_after(seconds):
                return await _handed_over(stream, host, make, trust)
        except TimeoutError:
            raise Unsent(f"the TLS handshake with {host} timed out") from None
        except ssl.SSLCertVerificationError as error:
            raise Unsent(f"the certificate of {host} is invalid: {error.verify_message}") from error
        except ssl.SSLError as error:
            raise Unsent(f"the TLS handshake with {host} failed: {_reason(error)}") from error
        except (OSError, EOFError, ValueError) as error:
            what = f"the TLS handshake with {host} failed: it closed the connection"
            raise Unsent(what if trust is not None else f"{host} closed the connection immediately") from error

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


async def _handed_over(stream: SocketStream, host: str, make: Callable[[], Made], trust: ssl.SSLContext | None) -> Made:
    """Hand an open connection over to a protocol of its own, encrypted with `trust`."""
    # The stream closes its own descriptor, and the connection stays open with ours.
    own = socket.socket(fileno=os.dup(_known(stream, SocketAttribute.raw_socket).fileno()))
    with ExitStack() as otherwise:
        otherwise.callback(own.close)
        await aclose_forcefully(stream)
        own.setblocking(False)
        _, made = await asyncio.get_running_loop().create_connection(
            make, sock=own, ssl=trust, server_hostname=host if trust is not None else None
        )
        otherwise.pop_all()
    return made


def _reason(error: ssl.SSLError) -> str:
    """Return why TLS failed, in words of the library: no text of a server is repeated."""
    reason = error.reason or "unknown"
    if reason in _OLD_VERSIONS:
        return "it does not support TLS 1.2 or later"
    if reason in _NO_TLS:
        return "it does not speak TLS on this port"
    return _ALERT.sub("", reason).lower().replace("_", " ")


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
