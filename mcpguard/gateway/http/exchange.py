"""One request of an agent and its answer.

uvicorn's protocol parses what arrives, keeps connections alive, and lets a request that a client sends too early wait
for its turn (`app/http_connection.py`). It calls an exchange by the names that its own have: `run_asgi`, `body`,
`more_body`, `message_event`, `keep_alive`, `disconnected` and `response_complete`. There is no ASGI in between.

Rules kept here:
1. Nothing more is read of a body than what was asked for, and a little.
2. Nothing is written to a client that does not read before it has read what was written.
3. Whoever has something to say meanwhile never waits for the client, and the answer comes after all of it (`reply`).
4. When the client disconnects, `left` is called at once.
"""

import asyncio
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.server import ServerState

from mcpguard.codec.messages import INVALID_REQUEST, Id, Notification, Request
from mcpguard.gateway.http.plain import ClientLeft, Headers, HttpRefusal, UncountedRefusal
from mcpguard.gateway.http.reply import STREAM, EventStream
from mcpguard.gateway.http.request_head import RequestHead, twice
from mcpguard.gateway.identity import ConnectionEnds
from mcpguard.settings.address import OwnHosts

if TYPE_CHECKING:
    import anyio

JSON = (b"content-type", b"application/json")
TEXT = (b"content-type", b"text/plain; charset=utf-8")
LONGEST_NUMBER = 18  # digits; Python itself refuses to read very long ones, with an exception
CLOSE = (b"connection", b"close")
_STATUS_LINES = {each.value: f"HTTP/1.1 {each.value} {each.phrase}\r\n".encode() for each in HTTPStatus}


class AgentConnection(Protocol):
    """What an exchange needs of its connection: what uvicorn's has, and the head of the request before."""

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    flow: FlowControl
    server_state: ServerState
    parser: Any
    url: bytes
    headers: list[tuple[bytes, bytes]]
    expect_100_continue: bool
    known_head: RequestHead | None
    answering: "HttpExchange | None"
    ends: ConnectionEnds

    def on_response_complete(self) -> None: ...


class HttpExchange:
    """A request, as far as it has arrived, and its answer, as far as it was sent. `mcp` are the headers of MCP."""

    def __init__(self, connection: AgentConnection, hosts: OwnHosts, longest_body: int, *, is_crowded: bool) -> None:
        self._connection = connection
        self.flow = connection.flow
        self._longest = longest_body
        self.mcp: dict[str, str] = {}
        self.twice: list[str] = []
        """Headers of MCP that appear more than once, in the order in which they do."""
        self.fits = True
        """Whether the body is not declared to be too large."""
        standing = []
        for pair in connection.headers:
            name, value = pair
            if name.startswith(b"mcp-"):
                key = name.decode("latin-1")
                if key in self.mcp:
                    self.twice.append(key)
                self.mcp[key] = value.strip(b" \t").decode("latin-1")
            elif name == b"content-length":
                self.fits &= value.isdigit() and len(value) <= LONGEST_NUMBER and int(value) <= longest_body
            else:
                standing.append(pair)
        parser, head = connection.parser, connection.known_head
        method = parser.get_method()
        if head is None or head.pairs != standing or head.url != connection.url or head.method != method:
            head = RequestHead(method, connection.url, standing, hosts, connection.ends)
            connection.known_head = head
        self.head = head
        self.is_crowded = is_crowded
        self.is_strange = head.is_foreign or is_crowded or not self.fits
        """Whether it may have to be refused, whoever its caller is."""
        self.id: Id | None = None
        self.scope: anyio.CancelScope
        """Within which the request is answered."""
        self.left: Callable[[], None] | None = None
        self.has_left = False
        self.headers: tuple[tuple[bytes, bytes], ...] = ()
        """What the answer has beside its own headers."""
        self.stream: EventStream | None = None
        """What is sent before the answer, if anything is."""
        self._quiet: asyncio.TimerHandle | None = None
        self._waits_to_send = connection.expect_100_continue
        self._is_late = False
        self.body = bytearray()
        self.more_body = True
        self.message_event = asyncio.Event()
        self.keep_alive: bool = parser.get_http_version() != "1.0" and parser.should_keep_alive()
        self.disconnected = False
        self.response_started = False
        self.response_complete = False

    def run_asgi(self, answer: Callable[["HttpExchange"], Coroutine[Any, Any, None]]) -> Coroutine[Any, Any, None]:
        """Return the work of answering, for the task of this request."""
        self._connection.answering = self
        return answer(self)

    def mcp_header(self, name: str) -> str | None:
        """Return the value of a header of MCP. Raises HttpRefusal for one that appears twice."""
        if name in self.twice:
            raise twice(name)
        return self.mcp.get(name)

    async def receive(self, most: int, seconds: float) -> None:
        """Wait until the body is complete, or has more bytes than these. Raises ClientLeft, HttpRefusal if that takes
        too long, or UncountedRefusal for a body over the limit.
        """
        connection = self._connection
        if self._waits_to_send and not connection.transport.is_closing():
            connection.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._waits_to_send = False
        most = min(most, self._longest)
        alarm = connection.loop.call_later(seconds, self._be_late)
        try:
            while self.more_body and len(self.body) <= most and not (self.disconnected or self._is_late):
                self.message_event.clear()
                self.flow.resume_reading()
                await self.message_event.wait()
        finally:
            alarm.cancel()
        if self._is_late:
            raise HttpRefusal(408, INVALID_REQUEST, "the request body did not arrive in time", "slow body")
        if self.disconnected:
            raise ClientLeft
        if len(self.body) > self._longest:
            self.check_size()

    def _be_late(self) -> None:
        self._is_late = True
        self.message_event.set()

    def check_size(self) -> None:
        """Raise UncountedRefusal for a body that is larger than its limit, or is declared to be."""
        if not self.fits or len(self.body) > self._longest:
            raise UncountedRefusal(413, f"The body is larger than {self._longest} bytes.\n")

    def watch(self, left: Callable[[], None], quiet: float) -> None:
        """Call `left` when the client disconnects, and send it a sign of life after so many silent seconds."""
        self.left = left
        self._quiet = self._connection.loop.call_later(quiet, self._give_sign, quiet)

    def _give_sign(self, quiet: float) -> None:
        self._quiet = self._connection.loop.call_later(quiet, self._give_sign, quiet)
        self._events().give_sign()

    def lose(self) -> None:
        """Note that the client has disconnected."""
        self.disconnected = True
        self.message_event.set()
        if self.left is not None:
            self.left()

    def leave(self) -> None:
        """End the work: nobody waits for the answer any more."""
        self.has_left = True
        self.scope.cancel()

    def say(self, said: Notification | Request) -> None:
        """Send a message before the answer, which thereby becomes the last of a stream."""
        self._events().say(said)

    async def finish(self, message: bytes) -> None:
        """Send the answer as the last of the stream."""
        self._end_watch()
        await self._events().finish(message)

    async def end(self) -> None:
        """End what runs beside the work. Raises what that has failed with."""
        self._end_watch()
        if self.stream is not None:
            await self.stream.end()

    def _end_watch(self) -> None:
        self.left = None  # what leads back to itself would be left to the garbage collector
        if self._quiet is not None:
            self._quiet.cancel()

    def answer(self, status: int, body: bytes = b"", headers: Headers = ()) -> None:
        """Send a complete answer."""
        if self.disconnected:
            return
        head = self._head_of(status, (*headers, (b"content-length", b"%d" % len(body))))
        self._connection.transport.write(head if self.head.method == b"HEAD" else head + body)
        self._complete()

    def begin_stream(self) -> None:
        """Send the head of an answer whose parts come one by one."""
        if not self.disconnected:
            said = self._head_of(200, (*STREAM, *self.headers, (b"transfer-encoding", b"chunked")))
            self._connection.transport.write(said)

    async def send_part(self, part: bytes) -> None:
        """Send a part of a stream once the client has read what came before."""
        await self.room()
        if not self.disconnected:
            self._connection.transport.write(b"%x\r\n%b\r\n" % (len(part), part))

    def end_stream(self) -> None:
        if not self.disconnected:
            self._connection.transport.write(b"0\r\n\r\n")
            self._complete()

    async def room(self) -> None:
        """Wait until the client has read what was written before."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()

    def abandon(self) -> None:
        """Answer a request for which something went wrong, as far as that is still possible."""
        if self.disconnected or self.response_complete:
            return
        if self.response_started:
            self._connection.transport.close()
        else:
            self.answer(500, b"Internal Server Error", (TEXT, CLOSE))

    def _events(self) -> EventStream:
        if self.stream is None:
            self.stream = EventStream(self)
        return self.stream

    def _head_of(self, status: int, headers: Headers) -> bytes:
        self.response_started = True
        self._waits_to_send = False
        said = [_STATUS_LINES[status]]
        for name, value in (*self._connection.server_state.default_headers, *headers):
            if name == CLOSE[0]:
                self.keep_alive = False
            said += name, b": ", value, b"\r\n"
        if not self.keep_alive and CLOSE not in headers:
            said.append(b"connection: close\r\n")
        said.append(b"\r\n")
        return b"".join(said)

    def _complete(self) -> None:
        self.response_complete = True
        self.left = None
        if self._quiet is not None:
            self._quiet.cancel()
        self.message_event.set()
        if not self.keep_alive:
            self._connection.transport.close()
        self._connection.on_response_complete()
