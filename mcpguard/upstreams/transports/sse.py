"""A server over the transport of 2024-11-05: one stream of events, and a place of its own to send messages to.

Rules kept here:
1. Messages are sent to where the stream says, once it has said so, and only if that is the origin of the URL.
2. Sending waits until the server has taken a message, but not for ever: some do so only when they have answered. What
   was taken on is sent whole even if its sender gives up, and there is a limit to how much is on its way.
3. The end of the stream is the end of the connection.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import structlog
from anyio.abc import TaskGroup

from mcpguard.upstreams.exchange.conversation import Bounds
from mcpguard.upstreams.exchange.endings import Unanswered
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
    """Messages to and from one server."""

    def __init__(
        self, events: "_Events", endpoint: RemotePlace, pool: HttpPool, heading: Heading, tasks: TaskGroup
    ) -> None:
        self._events = events
        self._endpoint = endpoint
        self._pool = pool
        self._heading = heading
        self._tasks = tasks
        self._on_their_way = 0

    async def send(self, message: bytes) -> None:
        if self._on_their_way >= MOST or self._tasks.cancel_scope.cancel_called:
            raise TransportEnded("the server takes no more messages")
        sending = _Sending(message)
        self._on_their_way += 1
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
                    sending.failed = Unanswered(f"the server answered with HTTP status {reply.status}")
                elif reply.type != EVENTS:
                    sending.done.set()
                    with anyio.move_on_after(self._events.waits.drained):
                        await reply.body(LITTLE)
        except TransportEnded as error:
            log.debug("upstream.unsent", why=str(error))
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
    """The stream, event by event."""

    def __init__(self, reply: Reply, limit: int, waits: Waits) -> None:
        self.waits = waits
        self._reply = reply
        self._parser = EventParser(limit)
        self._found: Iterator[Event] = iter(())

    async def next(self) -> Event:
        """Raises TransportEnded at the end, and for an event that is too large."""
        while True:
            try:
                for event in self._found:
                    await self._reply.give_way()
                    return event
                piece = await self._reply.piece()
            except EventTooLarge as error:
                raise TransportEnded(f"what the server says cannot be read further: {error}") from error
            except Unanswered as error:
                raise TransportEnded("the server has closed its stream") from error
            if not piece:
                raise TransportEnded("the server has closed its stream")
            self._found = self._parser.feed(piece)


@asynccontextmanager
async def sse(
    remote: Remote, bounds: Bounds | None = None, dialing: Dialing | None = None, waits: Waits | None = None
) -> AsyncIterator[Sse]:
    """A connection to the server at `remote`. Raises ServerError or TransportEnded when it cannot be made."""
    bounds, dialing, waits = bounds or Bounds(), dialing or Dialing(), waits or Waits()
    async with AsyncExitStack() as stack:
        pool = HttpPool(remote, dialing, await dialing.trust())
        stack.push_async_callback(pool.aclose)
        heading = Heading(remote)
        reply = await stack.enter_async_context(await pool.send("GET", heading.listening()))
        if not reply.ok:
            raise await refusal(reply, bounds)
        if reply.type != EVENTS:
            raise TransportEnded("the server answered with something else than a stream of events")
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
            raise TransportEnded("the server names no place to send messages to") from error
        if there.origin != configured.origin:
            raise TransportEnded("the server names a place of another origin to send messages to")
        return there
    raise TransportEnded("the server did not say in time where messages are sent to")
