"""Handles the unsolicited messages that a server sends on its streams.

Rules kept here:
1. A notification is handed over immediately, and a request is answered in its own task (`server_requests`), so neither
   delays reading.
2. Servers of the modern era may not make requests on a stream: those are dropped and counted.
3. A message that cannot be parsed affects nothing else: it is counted and skipped.
"""

from dataclasses import dataclass

import structlog
from anyio.abc import TaskGroup

from mcpguard.codec.messages import BadMessage, Failure, Notification, Request, Result
from mcpguard.upstreams.exchange.attribution import RequestOrigins
from mcpguard.upstreams.exchange.conversation import Bounds, Counts, OnNotification, OnRequest, Origin
from mcpguard.upstreams.exchange.message_reader import ServerMessageReader
from mcpguard.upstreams.exchange.server_requests import ServerRequests
from mcpguard.upstreams.transports.events import Event
from mcpguard.upstreams.transports.http_posts import Posts
from mcpguard.upstreams.transports.http_streams import Answer, Waits

log = structlog.get_logger("mcpguard.upstreams")


@dataclass(frozen=True, slots=True)
class PushRequest:
    """The request that a stream belongs to. On the stream without a request the id is 0."""

    id: int = 0
    origin: Origin | None = None
    modern: bool = False


class Pushes:
    """Handles the messages on all streams of one server."""

    def __init__(
        self,
        on_request: OnRequest,
        on_notification: OnNotification,
        whose: RequestOrigins,
        posts: Posts,
        tasks: TaskGroup,
        counts: Counts,
        bounds: Bounds,
        waits: Waits,
    ) -> None:
        self._on_notification = on_notification
        self._whose = whose
        self._posts = posts
        self._tasks = tasks
        self._counts = counts
        self._reader = ServerMessageReader(bounds)
        self._waits = waits
        self._serving = ServerRequests(on_request, self._send, bounds, counts)

    async def take(self, event: Event, asked: PushRequest) -> Answer | None:
        """Handle an event, and return the answer to the request if the event is that."""
        if event.type != "message" or not event.data:
            return None
        return await self.read(event.data, asked)

    async def read(self, data: bytes, asked: PushRequest) -> Answer | None:
        """Handle a message, and return the answer to the request if the message is that."""
        try:
            message = await self._reader.read(data)
        except BadMessage as error:
            self._counts.unreadable += 1
            log.debug("upstream.unreadable", why=str(error))
            return None
        match message:
            case Result() | Failure():
                # A stream answers its own request only: an answer with another id could be meant to replace another
                # caller's.
                if asked.id and message.id in (asked.id, None):
                    return message
                self._counts.late += 1
            case Notification("notifications/cancelled", params):
                self._serving.cancel(params)
            case Notification(method, params):
                self._on_notification(method, params, self._origin(asked))
            case Request():
                self._take_request(message, asked)
        return None

    def _take_request(self, request: Request, asked: PushRequest) -> None:
        over = self._tasks.cancel_scope.cancel_called
        if asked.modern or over:
            self._counts.dropped += 1
        else:
            self._serving.take(request, self._origin(asked), self._tasks)

    def _origin(self, asked: PushRequest) -> Origin | None:
        return asked.origin if asked.id else self._whose.sole_origin

    async def _send(self, answer: Answer) -> None:
        await self._posts.send(answer, self._waits.told)
