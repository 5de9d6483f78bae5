"""Sends HTTP requests to one remote server over a pool of reusable connections.

Rules kept here:
1. An error affects only its own request, and reports whether the server may have executed it.
2. A few redirects are followed, with the same method and the same checks: within the origin, and from plain HTTP to TLS
   on the same host. Another host or port would be another server than the approved one. Headers for one origin are
   never sent to another: `Headers` are computed anew for every target.
3. Nothing is sent twice. A connection that was idle for a while, or on which anything has come meanwhile, is not
   reused, so that no request is sent just as the server closes it.
4. A connection carries one request at a time. Bytes that come without one (before a request, after the end of a reply)
   end the connection, so that they can never be read as the reply to the next request.
5. At most one read is held that nobody has asked for, or a short JSON text. Until then no more is read, so a server
   that sends without end waits.
6. Text from a server is never repeated in an error.
"""

import asyncio
import re
import select
import ssl
from collections.abc import Callable
from typing import Final, cast

import structlog
from anyio.lowlevel import checkpoint_if_cancelled

from mcpguard.upstreams.exchange.endings import NoUsableAnswer, Unsent
from mcpguard.upstreams.process.fair_reading import FREE_READS, ConnectionTurns
from mcpguard.upstreams.transports.dialing import CHUNK, Dialer, Dialing
from mcpguard.upstreams.transports.http_replies import BROKE_OFF, Reply
from mcpguard.upstreams.transports.remotes import BadRemote, Header, Remote, RemotePlace

MOST_CONNECTIONS = 2048
MOST_IDLE = 64
IDLE_SECONDS = 4.0
MOST_REDIRECTIONS = 5
_FOLLOWED = {"GET": {301, 302, 303, 307, 308}, "POST": {307, 308}}
_LINE_END: Final = re.compile(rb"[\r\n\0]")

Headers = Callable[[RemotePlace], list[Header]]
log = structlog.get_logger("mcpguard.upstreams")


class Wire(asyncio.BufferedProtocol):
    """A connection. It is put into `idle` when it can carry another request. `gone` is called once it is closed."""

    def __init__(self, host: str, turns: ConnectionTurns, idle: "list[Wire]", gone: Callable[["Wire"], None]) -> None:
        self.turns = turns
        self.idle_since = 0.0
        self._host = host
        self._idle = idle
        self._gone = gone
        self._buffer = bytearray(CHUNK)
        self._view = memoryview(self._buffer)
        self._reply: Reply | None = None
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's are of no common class
        self.poll = select.poll()
        self.poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    async def exchange(self, request: bytes, place: RemotePlace) -> Reply:
        """Send a request on an idle connection, and return its reply once the head has come, or all of a short one.

        Raises Unsent, or NoUsableAnswer: from the first byte on it is unknown whether the server has acted.
        """
        if self.transport.is_closing():
            raise Unsent(f"{self._host} closed the connection immediately")
        self._reply = reply = Reply(self, place)
        reply.waiting = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        try:
            await reply.waiting
        except asyncio.CancelledError:
            # A connection with a reply on its way can carry nothing else.
            self.close()
            raise
        reply.waiting = None
        if reply.error is not None and not reply.has_head:
            raise reply.error
        if reply.is_whole:
            reply.wire = None
            self.leave()
        return reply

    def get_buffer(self, _hint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, count: int) -> None:
        reply = self._reply
        # A reply to what nobody asked could be read as the reply to the next request.
        if reply is None:
            self.close()
            return
        if not reply.feed(self._view[:count]):
            self._fail(reply)
            return
        # Whoever waits for it is woken once. What comes in many small pieces is read with the others' turns in between.
        if reply.is_short and not reply.is_whole and reply.reads < FREE_READS:
            return
        if not reply.is_whole and reply.content and not self._paused and not self.transport.is_closing():
            self._paused = True
            self.transport.pause_reading()
        if reply.has_head and reply.waiting is not None and not reply.waiting.done():
            reply.waiting.set_result(None)

    def resume(self) -> None:
        """Read on."""
        if self._paused and not self.transport.is_closing():
            self._paused = False
            self.transport.resume_reading()

    def eof_received(self) -> None:
        """See `connection_lost`: a server that has nothing to say any more is left."""
        self._end(clean=True)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(clean=exc is None)
        self._gone(self)

    def leave(self) -> None:
        """End the request that it carries. It is kept only if its reply was read to the end, and nothing came after."""
        reply, self._reply = self._reply, None
        # With bytes of a request still to be sent the next one would be read as their rest.
        if reply is not None and reply.leaves_connection and not self.transport.get_write_buffer_size():
            self.idle_since = asyncio.get_running_loop().time()
            self._idle.append(self)
        else:
            self.close()

    def close(self) -> None:
        """Close it at once."""
        self._end(clean=False)
        self.transport.abort()

    def _fail(self, reply: Reply) -> None:
        # What was whole before the rubbish came is a reply all the same; only the connection is not used any more.
        if reply.is_whole:
            reply.leaves_connection = False
            reply.wake()
        else:
            self.close()

    def _end(self, *, clean: bool) -> None:
        reply, self._reply = self._reply, None
        if reply is not None and not reply.is_whole:
            if clean and reply.has_head and reply.ends_with_connection:
                reply.is_whole = True
            reply.wake(NoUsableAnswer(self._why(reply)))

    def _why(self, reply: Reply) -> str:
        if reply.has_head:
            return BROKE_OFF
        return f"{self._host} closed the connection or answered with something that is not HTTP"


class HttpPool:
    """The pool of connections to one remote."""

    def __init__(self, remote: Remote, dialing: Dialing, trust: ssl.SSLContext) -> None:
        self._start = remote.place
        self._trust = trust
        self._dialer = Dialer(dialing)
        self._idle: dict[tuple[str, str, int], list[Wire]] = {}
        self._open: set[Wire] = set()
        self._dialled = 0
        self._sweeping: asyncio.TimerHandle | None = None

    async def send(self, method: str, headers: Headers, body: bytes = b"", at: RemotePlace | None = None) -> Reply:
        """Return the reply, whatever its status; the caller closes it. Raises Unsent or NoUsableAnswer."""
        place, length = at or self._start, b"Content-Length: %d\r\n" % len(body) if method == "POST" else b""
        for redirections in range(MOST_REDIRECTIONS + 1):
            # The host is set here and nowhere else, from the parsed URL: a configured one could reach another site on
            # the same server.
            begin, fields = f"{method} {place.target} HTTP/1.1\r\nHost: {place.authority}\r\n", headers(place)
            if _LINE_END.search(b"".join([value for _, value in fields])):  # another header, or another request
                raise Unsent(f"the request to {place.host} has a header with a line end")
            written = b"".join([b"%b: %b\r\n" % field for field in fields])
            request = b"".join((begin.encode(), written, length, b"\r\n", body))
            try:
                reply = await (self._idle_wire(place) or await self._dial(place)).exchange(request, place)
            except Unsent as error:
                if not redirections:
                    raise
                # Not sent to this place, but the one before has seen it.
                raise NoUsableAnswer(f"cannot follow the server's redirection: {error}") from error
            if reply.status < 300 or not _leads_on(reply, method):
                return reply
            await reply.aclose()
            place = _next(place, reply.header(b"location"))
        raise NoUsableAnswer("too many redirections")

    def _idle_wire(self, place: RemotePlace) -> Wire | None:
        """Return a connection that can carry a request now, if there is one."""
        wires = self._idle.get(place.origin)
        while wires:
            wire = wires.pop()
            # What comes on an idle connection can only be its end, or a reply to what nobody asked.
            is_silent = not wire.transport.is_closing() and not wire.poll.poll(0)
            if is_silent and asyncio.get_running_loop().time() - wire.idle_since < IDLE_SECONDS:
                return wire
            wire.close()
        return None

    async def _dial(self, place: RemotePlace) -> Wire:
        """Return a new connection. Raises Unsent."""
        if len(self._open) + self._dialled >= MOST_CONNECTIONS:
            raise Unsent(f"there are too many connections to {place.host}")
        idle = self._idle.setdefault(place.origin, [])
        self._dialled += 1
        try:
            wire = await self._dialer.connect(
                place.host,
                place.port,
                lambda: Wire(place.host, self._dialer.turns, idle, self._open.discard),
                self._trust if place.scheme == "https" else None,
            )
        finally:
            self._dialled -= 1
        try:
            # What is cancelled while the connection is made is not sent, not even in this moment.
            await checkpoint_if_cancelled()
        except asyncio.CancelledError:
            wire.close()
            raise
        if not wire.transport.is_closing():
            self._open.add(wire)
        if self._sweeping is None:
            self._sweeping = asyncio.get_running_loop().call_later(IDLE_SECONDS / 2, self._sweep)
        return wire

    def _sweep(self) -> None:
        """Close the connections that were idle for too long, and those that are too many."""
        loop = asyncio.get_running_loop()
        for wires in self._idle.values():  # the one that was idle for the longest time comes first
            while wires and (len(wires) > MOST_IDLE or loop.time() - wires[0].idle_since >= IDLE_SECONDS):
                wires.pop(0).close()
        self._sweeping = loop.call_later(IDLE_SECONDS / 2, self._sweep) if self._open else None

    async def aclose(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
        for wire in (*self._open,):
            wire.close()


def _leads_on(reply: Reply, method: str) -> bool:
    return reply.status in _FOLLOWED.get(method, ()) and bool(reply.header(b"location"))


def _next(here: RemotePlace, location: bytes) -> RemotePlace:
    try:
        there = here.towards(location.decode("ascii"))
    except (BadRemote, UnicodeDecodeError) as error:
        raise NoUsableAnswer("the server redirects to an invalid URL") from error
    # A redirection to plain HTTP would send the call in the clear.
    if here.scheme == "https" and there.scheme != "https":
        raise NoUsableAnswer("the server redirects to a URL without TLS, which is not followed")
    if here.host != there.host:
        raise NoUsableAnswer("the server redirects to another host, which is not followed; declare that URL instead")
    if here.scheme == there.scheme and here.port != there.port:
        raise NoUsableAnswer("the server redirects to another port, which is not followed; declare that URL instead")
    return there
