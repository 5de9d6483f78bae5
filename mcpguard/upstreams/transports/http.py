"""A conversation over streamable HTTP, in both protocol eras.

Rules kept here:
1. Every message is a separate HTTP request, and its failure affects no other. Only the loss of the session ends the
   conversation, and with it every waiting request.
2. A request ends with its response, the server's error, its caller's cancellation or the end of its own stream. Up to
   2025-11-25 a broken stream is resumed if the server supports that, and a cancellation is sent as a message; from
   2026-07-28 on closing the stream is the cancellation.
3. A message on the stream of a request has that request's origin. A message on the stream without a request has the
   origin of the only request in progress, if there is exactly one (`attribution`).
4. Nothing is sent twice. The caller learns whether the server may have executed the request.
"""

import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import TaskGroup

from mcpguard.codec.messages import BadMessage, Notification, Result, dumps, read
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
from mcpguard.upstreams.exchange.endings import SessionLost, Unsayable, Unsent
from mcpguard.upstreams.exchange.message_reader import LARGE
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.transports.dialing import Dialing
from mcpguard.upstreams.transports.http_headers import INITIALIZE, Heading
from mcpguard.upstreams.transports.http_pool import HttpPool
from mcpguard.upstreams.transports.http_posts import Posts
from mcpguard.upstreams.transports.http_pushes import Pushes, PushRequest
from mcpguard.upstreams.transports.http_questions import HttpQuestions
from mcpguard.upstreams.transports.http_streams import Waits
from mcpguard.upstreams.transports.remotes import BadRemote, Remote

INITIALIZED = "notifications/initialized"
CANCELLED = "notifications/cancelled"

__all__ = ["Http", "Remote", "http"]


class Http:
    """A conversation with one server. Everything may be called from any task while `run` runs."""

    def __init__(
        self,
        remote: Remote,
        pool: HttpPool,
        tasks: TaskGroup,
        on_request: OnRequest,
        on_notification: OnNotification,
        bounds: Bounds,
        waits: Waits,
    ) -> None:
        self.counts = Counts()
        self.artifact: str | None = None
        self._pool = pool
        self._bounds = bounds
        self._waits = waits
        self._heading = Heading(remote)
        self._posts = Posts(pool, self._heading, tasks, self.counts, self.end)
        self._whose = RequestOrigins()
        pushes = Pushes(on_request, on_notification, self._whose, self._posts, tasks, self.counts, bounds, waits)
        self._questions = HttpQuestions(pool, self._heading, self._posts, pushes, bounds, waits)
        self._numbers = itertools.count(1)
        self._in_progress: dict[int, anyio.CancelScope] = {}
        self._listening = anyio.CancelScope()
        self._greeted = anyio.Event()
        self._over = anyio.Event()
        self._ended: TransportEnded | None = None

    @property
    def in_doubt(self) -> bool:
        return self._whose.in_doubt

    async def request(
        self,
        method: str,
        params: Params = None,
        origin: Origin | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send a request and return its result.

        Raises ServerError, or TransportEnded: Unsent if it cannot have been executed. If the caller is cancelled, so is
        the request.
        """
        if self._ended is not None:
            raise Unsent(str(self._ended))
        id_, heading = next(self._numbers), self._heading
        version = heading.version if heading.is_modern else heading.modern(params)
        members = {"jsonrpc": "2.0", "id": id_, "method": method}
        try:
            head = heading.asking(method, params, version, headers)
            body = dumps(members if params is None else members | {"params": params})
        except (BadRemote, UnicodeEncodeError) as error:
            raise Unsayable("the request cannot be encoded") from error
        with anyio.CancelScope() as self._in_progress[id_]:
            if not isinstance(origin, StandingRequest):
                self._whose.origins[id_] = origin
            try:
                reply = await self._pool.send("POST", head, body)
                # Nearly always the answer is a short JSON text, so it has come whole already.
                if heading.is_modern and reply.is_plain and reply.is_whole and len(reply.content) <= LARGE:
                    with suppress(BadMessage):
                        answer = read(reply.content, max_bytes=self._bounds.message_bytes, max_depth=self._bounds.depth)
                        if isinstance(answer, Result) and answer.id == id_:
                            return answer.result
                asked = PushRequest(id_, origin, version is not None)
                found = await self._questions.answer_in(reply, asked, method)
            except anyio.get_cancelled_exc_class():
                self._whose.cancel(id_)
                # Only noted here and sent by another task: this one is being cancelled, and cannot wait for the server.
                self._take_back(id_, method, modern=version is not None)
                raise
            finally:
                del self._in_progress[id_]
                self._whose.origins.pop(id_, None)
            if isinstance(found, Result):
                return found.result
            raise ServerError(found.error)
        raise TransportEnded(str(self._ended))

    async def notify(self, method: str, params: Params = None) -> None:
        if self._ended is not None:
            raise TransportEnded(str(self._ended))
        message = Notification(method, params)
        # Nobody waits for the answer to a notification, so a slow server must not hold up its caller.
        if method != INITIALIZED:
            self._posts.send_soon(message, self._waits.told)
            return
        # Awaited, unlike other notifications: a server may refuse everything that overtakes this one.
        await self._posts.send(message, self._waits.told)
        self._greeted.set()

    def speak(self, version: str) -> None:
        self._heading.speak(version)

    async def run(self) -> None:
        """Listen on the stream without a request, where the server has one, until the conversation ends."""
        try:
            # Not before the handshake: a server may refuse a stream without a session.
            await self._greeted.wait()
            if self._ended is None:
                with self._listening:
                    await self._questions.listen()
            await self._over.wait()
        finally:
            self.end(TransportEnded("the conversation was ended"))

    def end(self, ended: TransportEnded) -> None:
        """End every request that waits. The first reason counts."""
        if self._ended is not None:
            return
        self._ended = ended
        # Each request that waits is woken by its own scope, and raises the reason that was stored above.
        for scope in self._in_progress.values():
            scope.cancel()
        self._listening.cancel()
        self._greeted.set()
        self._over.set()

    async def close(self) -> None:
        """End the conversation, and delete its session at the server."""
        self.end(TransportEnded("the conversation was ended"))
        if not self._heading.has_session or isinstance(self._ended, SessionLost):
            return
        with anyio.move_on_after(self._waits.closing, shield=True), suppress(TransportEnded):
            async with await self._pool.send("DELETE", self._heading.answering()):
                pass

    def _take_back(self, id_: int, method: str, *, modern: bool) -> None:
        """Send a cancellation, up to 2025-11-25: in that era closing the stream cancels nothing."""
        if self._ended is None and not modern and method != INITIALIZE:
            cancelled = Notification(CANCELLED, {"requestId": id_})
            self._posts.send_soon(cancelled, self._waits.taken_back, whatever_happens=True)


@asynccontextmanager
async def http(
    remote: Remote,
    on_request: OnRequest,
    on_notification: OnNotification,
    bounds: Bounds | None = None,
    dialing: Dialing | None = None,
    waits: Waits | None = None,
) -> AsyncIterator[Http]:
    """Open a conversation with the server at `remote` for the block, and close all connections after it."""
    bounds, dialing, waits = bounds or Bounds(), dialing or Dialing(), waits or Waits()
    async with AsyncExitStack() as stack:
        pool = HttpPool(remote, dialing, await dialing.trust())
        # Pushed first, so closed last: ending the session and the tasks still need connections.
        stack.push_async_callback(pool.aclose)
        tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        conversation = Http(remote, pool, tasks, on_request, on_notification, bounds, waits)
        stack.push_async_callback(conversation.close)
        yield conversation
