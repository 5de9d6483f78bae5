"""The transport of 2024-11-05 (HTTP+SSE): one event stream, and a separate endpoint for messages.

Rules kept here:
1. Messages are sent to the endpoint that the stream names, and only if it has the same origin as the URL.
2. Sending waits, with a timeout, until the server has accepted a message: some accept it only after answering it. A
   message is sent completely even if its sender is cancelled, and the number in transit is limited.
3. The connection ends with the stream.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import structlog
from anyio.abc import TaskGroup

from mcpguard.upstreams.exchange.conversation import Bounds
from mcpguard.upstreams.exchange.endings import NoUsableAnswer
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.transports.dialing import Dialing
from mcpguard.upstreams.transports.events import Event, EventParser, EventTooLarge
from mcpguard.upstreams.transports.http_headers import Heading
from mcpguard.upstreams.transports.http_pool import HttpPool
from mcpguard.upstreams.transports.http_replies import EVENTS, Reply, refusal
from mcpguard.upstreams.transports.http_streams import Waits
from mcpguard.upstreams.transports.remotes import BadRemote, Remote, RemotePlace

MOST = 256
LITTLE = 65_536
log = structlog.get_logger("mcpguard.upstreams")


class Sse:
    """Carries messages to and from one server."""

    def __init__(
        self, events: "_Events", endpoint: RemotePlace, pool: HttpPool, heading: Heading, tasks: TaskGroup
    ) -> None:
        self._events = events
        self._endpoint = endpoint
        self._pool = pool
        self._heading = heading
        self._tasks = tasks
        self._on_their_way = 0
        self.at_once: Callable[[bytes], bool] | None = None

    def put(self, message: bytes) -> bool:  # noqa: ARG002 - each message is a request of its own, for which one waits
        return False

    async def send(self, message: bytes) -> None:
        # Each message is a connection: a server that accepts none must not occupy all of them.
        if self._on_their_way >= MOST or self._tasks.cancel_scope.cancel_called:
            raise TransportEnded("the server accepts no more messages")
        sending = _Sending(message)
        self._on_their_way += 1
        # In a task of its own: a cancelled sender would break off a request in the middle of its body.
        self._tasks.start_soon(self._post, sending, name="message to a server")
        with anyio.move_on_after(self._events.waits.told):
            await sending.done.wait()
        if sending.failed is not None:
            raise sending.failed

    async def receive(self) -> bytes:
        while True:
            event = await self._events.next()
            if event.type == "message" and event.data:
                return event.data

    async def _post(self, sending: "_Sending") -> None:
        try:
            headers = self._heading.answering()
            async with await self._pool.send("POST", headers, sending.message, at=self._endpoint) as reply:
                if not reply.ok:
                    sending.failed = NoUsableAnswer(f"the server answered with HTTP status {reply.status}")
                elif reply.type != EVENTS:
                    sending.done.set()
                    with anyio.move_on_after(self._events.waits.drained):
                        await reply.body(LITTLE)
        except TransportEnded as error:
            log.debug("upstream.unsent", why=str(error))
            # An error after the server has accepted the message is not the sender's any more.
            if not sending.done.is_set():
                sending.failed = error
        finally:
            self._on_their_way -= 1
            sending.done.set()


class _Sending:
    """A message on its way."""

    def __init__(self, message: bytes) -> None:
        self.message = message
        self.done = anyio.Event()
        self.failed: TransportEnded | None = None


class _Events:
    """Reads the stream event by event."""

    def __init__(self, reply: Reply, limit: int, waits: Waits) -> None:
        self.waits = waits
        self._reply = reply
        self._parser = EventParser(limit)
        self._found: Iterator[Event] = iter(())

    async def next(self) -> Event:
        """Return the next event. Raises TransportEnded at the end, and for an event over the limit."""
        while True:
            try:
                for event in self._found:
                    await self._reply.give_way()
                    return event
                piece = await self._reply.piece()
            except EventTooLarge as error:
                raise TransportEnded(f"the server's event stream is invalid: {error}") from error
            except NoUsableAnswer as error:
                raise TransportEnded("the server has closed its stream") from error
            if not piece:
                raise TransportEnded("the server has closed its stream")
            self._found = self._parser.feed(piece)


@asynccontextmanager
async def sse(
    remote: Remote, bounds: Bounds | None = None, dialing: Dialing | None = None, waits: Waits | None = None
) -> AsyncIterator[Sse]:
    """Connect to the server at `remote` for the block. Raises ServerError or TransportEnded."""
    bounds, dialing, waits = bounds or Bounds(), dialing or Dialing(), waits or Waits()
    async with AsyncExitStack() as stack:
        pool = HttpPool(remote, dialing, await dialing.trust())
        stack.push_async_callback(pool.aclose)
        heading = Heading(remote)
        reply = await stack.enter_async_context(await pool.send("GET", heading.listening()))
        if not reply.ok:
            raise await refusal(reply, bounds)
        if reply.type != EVENTS:
            raise TransportEnded("the server did not answer with an event stream")
        events = _Events(reply, bounds.message_bytes, waits)
        endpoint = await _endpoint(events, reply.place, remote.place)
        tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        yield Sse(events, endpoint, pool, heading, tasks)


async def _endpoint(events: _Events, here: RemotePlace, configured: RemotePlace) -> RemotePlace:
    with anyio.move_on_after(events.waits.endpoint):
        while (event := await events.next()).type != "endpoint":
            pass
        try:
            there = here.towards(event.data.decode("ascii"))
        except (BadRemote, UnicodeDecodeError) as error:
            raise TransportEnded("the server named an invalid endpoint for messages") from error
        # An endpoint elsewhere would have calls sent to a server that nobody approved.
        if there.origin != configured.origin:
            raise TransportEnded("the server named an endpoint of another origin for messages")
        return there
    raise TransportEnded("the server did not name its endpoint for messages in time")
