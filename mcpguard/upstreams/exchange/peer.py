"""A conversation with one server over a single message stream, on which responses are matched to requests.

Rules kept here:
1. Reading waits only for the next message, never for a caller or for the handling of a request from the server. So a
   request that the server makes during a call cannot block that call's response.
2. Every request ends: with its response, the server's error, the caller's cancellation, or the end of the stream, which
   ends all of them. A response that no caller waits for any more is dropped.
3. Unsolicited messages are bounded: requests beyond a limit are refused, and dropped if the server does not even read
   the refusals. Servers of the modern era may not make requests: theirs are dropped and counted. Notifications are
   handed over immediately, in order of arrival and before the response that follows them; none is stored.
4. A line that is not a valid message affects nothing else: it is counted and skipped.
5. No response is accepted before the responding program is confirmed to be the one that was started.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import structlog
from anyio.abc import TaskGroup

from mcpguard.codec import envelope
from mcpguard.codec.messages import (
    BadMessage,
    Failure,
    Id,
    Message,
    Notification,
    Request,
    Result,
    dumps,
    is_id,
    read,
    write,
)
from mcpguard.upstreams.exchange.attribution import RequestOrigins
from mcpguard.upstreams.exchange.conversation import (
    Bounds,
    Counts,
    OnNotification,
    OnRequest,
    Origin,
    Params,
    ServerError,
    StandingRequest,
)
from mcpguard.upstreams.exchange.endings import Unsayable
from mcpguard.upstreams.exchange.message_reader import ServerMessageReader
from mcpguard.upstreams.exchange.server_requests import ServerRequests
from mcpguard.upstreams.exchange.transport import MessageTransport, TransportEnded

_LONE = "the message holds half a character (a lone surrogate) and cannot be encoded"
log = structlog.get_logger("mcpguard.upstreams")


class StreamPeer:
    """The guard's side of a conversation. `run` reads; everything else may be called from any task while it runs."""

    def __init__(
        self,
        transport: MessageTransport,
        on_request: OnRequest,
        on_notification: OnNotification,
        bounds: Bounds | None = None,
        artifact: str | None = None,
        confirm: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.counts = Counts()
        self.artifact = artifact
        self._transport = transport
        self._on_notification = on_notification
        bounds = bounds or Bounds()
        self._bounds = bounds
        self._reader = ServerMessageReader(bounds)
        self._numbers = itertools.count(1)
        self._waiting: dict[Id, asyncio.Future[Result | Failure | TransportEnded]] = {}
        self._subscriptions: dict[Id, Origin | None] = {}
        self._whose = RequestOrigins()
        self._modern = False
        self._serving = ServerRequests(on_request, self._send, bounds, self.counts)
        self._ended: TransportEnded | None = None
        self._confirm = confirm

    @property
    def in_doubt(self) -> bool:
        return self._whose.in_doubt

    async def request(
        self,
        method: str,
        params: Params = None,
        origin: Origin | None = None,
        headers: Mapping[str, str] | None = None,  # noqa: ARG002 - a stream has none
    ) -> dict[str, Any]:
        """Send a request and return its result. Raises ServerError, or TransportEnded when nobody can answer.

        If the caller is cancelled, the server is told so, and a late answer is dropped.
        """
        if self._ended is not None:
            raise TransportEnded(str(self._ended))
        id_ = next(self._numbers)
        members: dict[str, Any] = {"jsonrpc": "2.0", "id": id_, "method": method}
        if params is not None:
            members["params"] = params
        try:
            message = dumps(members)
        except UnicodeEncodeError as error:
            raise Unsayable(_LONE) from error
        # Registered before it is sent: a fast server may answer while `send` still waits for room in the pipe.
        self._waiting[id_] = answered = asyncio.get_running_loop().create_future()
        # An open subscription is in progress for hours, and would make every question ambiguous.
        of = self._subscriptions if isinstance(origin, StandingRequest) else self._whose.origins
        of[id_] = origin
        try:
            if not self._transport.put(message):
                await self._transport.send(message)
            answer = await answered
        except asyncio.CancelledError:
            # Where the answer has come in the same moment, the server has nothing left to cancel.
            if answered.cancelled() or not answered.done():
                self._whose.cancel(id_)
                await self._take_back(id_)
            raise
        finally:
            del self._waiting[id_], of[id_]
        # Between the hash of a program and its start somebody could have exchanged it. So the files are checked once
        # more before the first answer counts; until that has succeeded every answer waits for it.
        if self._confirm is not None:
            await self._confirm()
            self._confirm = None
        if isinstance(answer, Result):
            return answer.result
        raise ServerError(answer.error) if isinstance(answer, Failure) else TransportEnded(str(answer))

    async def notify(self, method: str, params: Params = None) -> None:
        await self._send(Notification(method, params))

    def speak(self, version: str) -> None:
        """Use this revision. A stream looks the same in each; only whether the server may make requests differs."""
        self._modern = version in envelope.MODERN

    async def run(self) -> None:
        """Read until the stream ends, then end every request that waits. Raises only what a handler raises."""
        try:
            async with anyio.create_task_group() as tasks:
                # The tasks of the group answer the server's requests. They end with the stream: nobody could read their
                # answers.
                self._transport.at_once = self._take_answer
                await self._read(tasks)
                tasks.cancel_scope.cancel()
        finally:
            # Also when this task is cancelled: a caller that waits for an answer here would wait for ever.
            self._end_all(self._ended or TransportEnded("the conversation was ended"))

    async def _read(self, tasks: TaskGroup) -> None:
        while True:
            try:
                data = await self._transport.receive()
            except TransportEnded as ended:
                self._ended = ended
                return
            try:
                message = await self._reader.read(data)
            except BadMessage as error:
                self.counts.unreadable += 1
                log.debug("upstream.unreadable", why=str(error))
            else:
                self._take(message, tasks)

    def _take(self, message: Message, tasks: TaskGroup) -> None:
        match message:
            case Result() | Failure():
                self._settle(message)
            case Notification("notifications/cancelled", params):
                self._serving.cancel(params)
            case Notification(method, params):
                self._on_notification(method, params, self._standing(params) or self._whose.sole_origin)
            # The modern era has no requests of servers. Answering one would let a server ask a client outside of its
            # call.
            case Request() if self._modern:
                self.counts.dropped += 1
            case Request():
                self._serving.take(message, self._whose.sole_origin, tasks)

    def _standing(self, params: Params) -> StandingRequest | None:
        """Return the open request that the message names as its subscription, if it names one."""
        id_ = envelope.meta(params).get(envelope.SUBSCRIPTION)
        origin = self._subscriptions.get(id_) if is_id(id_) else None
        return origin if isinstance(origin, StandingRequest) else None

    def _take_answer(self, data: bytes) -> bool:
        """Hand a small message to the request that it answers. Returns false for any other message."""
        try:
            message = read(data, max_bytes=self._bounds.message_bytes, max_depth=self._bounds.depth)
        except BadMessage:
            return False
        if not isinstance(message, Result | Failure):
            return False
        answered = self._waiting.get(message.id) if message.id is not None else None
        if answered is None or answered.done():
            return False
        answered.set_result(message)
        return True

    def _settle(self, message: Result | Failure) -> None:
        answered = self._waiting.get(message.id) if message.id is not None else None
        if answered is None or answered.done():
            self.counts.late += 1
            self._whose.note_late_answer(message.id)
        else:
            answered.set_result(message)

    async def _send(self, message: Message) -> None:
        try:
            data = write(message)
        except UnicodeEncodeError as error:
            raise Unsayable(_LONE) from error
        await self._transport.send(data)

    async def _take_back(self, id_: Id) -> None:
        if self._ended is not None:
            return
        # Shielded, as the caller is cancelled already, and bounded: a server that reads nothing must not hold it here.
        with anyio.move_on_after(1, shield=True):
            try:
                await self.notify("notifications/cancelled", {"requestId": id_})
            except TransportEnded:
                return  # the server is gone, so there is nobody to tell

    def _end_all(self, ended: TransportEnded) -> None:
        self._ended = ended
        for answered in self._waiting.values():
            if not answered.done():
                answered.set_result(ended)
