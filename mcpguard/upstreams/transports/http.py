"""A conversation over streamable HTTP, in both eras of the protocol.

Rules kept here:
1. Every message is a request of its own, and what goes wrong with one is that one's alone. Only the loss of the session
   ends the conversation, and with it everything that waits.
2. A request ends with its answer, the server's error, its caller's cancellation or the end of its own stream. Up to
   2025-11-25 a stream that breaks off is taken up again where the server made that possible, and a question that is
   taken back is taken back in words; from 2026-07-28 on closing the stream says that.
3. What a server sends on the stream of a request comes with that request's origin. What it sends on the stream that
   belongs to none comes with the origin of the only request in progress, if there is one only (`attribution`).
4. Nothing is sent twice. Whoever asks is told whether the server can have carried it out.
"""

import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import TaskGroup

from mcpguard.codec.messages import Notification, Result
from mcpguard.upstreams.exchange.attribution import Whose
from mcpguard.upstreams.exchange.conversation import (
    Bounds,
    Counts,
    OnNotification,
    OnRequest,
    Origin,
    Params,
    ServerError,
)
from mcpguard.upstreams.exchange.endings import SessionLost, Unsent
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.transports.dialing import Dialing
from mcpguard.upstreams.transports.http_headers import INITIALIZE, Heading
from mcpguard.upstreams.transports.http_pool import HttpPool
from mcpguard.upstreams.transports.http_posts import Posts
from mcpguard.upstreams.transports.http_pushes import Pushes, PushRequest
from mcpguard.upstreams.transports.http_questions import HttpQuestions
from mcpguard.upstreams.transports.http_streams import Waits
from mcpguard.upstreams.transports.remotes import Remote

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
        self._waits = waits
        self._heading = Heading(remote)
        self._posts = Posts(pool, self._heading, tasks, self.counts, self.end)
        self._whose = Whose()
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
        """Ask, and return the result. Raises ServerError, or TransportEnded: Unsent if it cannot have been carried out.

        A caller that is cancelled takes its question back.
        """
        if self._ended is not None:
            raise Unsent(str(self._ended))
        asked = PushRequest(next(self._numbers), origin, self._heading.modern(params) is not None)
        with anyio.CancelScope() as scope:
            self._in_progress[asked.id] = scope
            self._whose.begin(asked.id, origin)
            try:
                answer = await self._questions.ask(asked, method, params, headers)
            except anyio.get_cancelled_exc_class():
                self._whose.take_back(asked.id)
                self._take_back(asked, method)
                raise
            finally:
                del self._in_progress[asked.id]
                self._whose.end(asked.id)
            if isinstance(answer, Result):
                return answer.result
            raise ServerError(answer.error)
        raise TransportEnded(str(self._ended))

    async def notify(self, method: str, params: Params = None) -> None:
        if self._ended is not None:
            raise TransportEnded(str(self._ended))
        message = Notification(method, params)
        if method != INITIALIZED:
            self._posts.send_soon(message, self._waits.told)
            return
        await self._posts.send(message, self._waits.told)  # a server may refuse everything else before it
        self._greeted.set()

    def speak(self, version: str) -> None:
        self._heading.speak(version)

    async def run(self) -> None:
        """Listen to what the server says of its own accord, where it does, until the conversation ends."""
        try:
            await self._greeted.wait()
            with self._listening:
                await self._questions.listen()
            await self._over.wait()
        finally:
            self.end(TransportEnded("the conversation was ended"))

    def end(self, ended: TransportEnded) -> None:
        """End everything that waits. The first reason counts."""
        if self._ended is not None:
            return
        self._ended = ended
        for scope in self._in_progress.values():
            scope.cancel()
        self._listening.cancel()
        self._greeted.set()
        self._over.set()

    async def close(self) -> None:
        """End, and tell the server that its session is over."""
        self.end(TransportEnded("the conversation was ended"))
        if not self._heading.has_session or isinstance(self._ended, SessionLost):
            return
        with anyio.move_on_after(self._waits.closing, shield=True), suppress(TransportEnded):
            async with await self._pool.send("DELETE", self._heading.answering()):
                pass

    def _take_back(self, asked: PushRequest, method: str) -> None:
        """Up to 2025-11-25 closing the stream says nothing."""
        if self._ended is None and not asked.modern and method != INITIALIZE:
            cancelled = Notification(CANCELLED, {"requestId": asked.id})
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
    """A conversation with the server at `remote`. However the block is left, no connection is open when it is."""
    bounds, dialing, waits = bounds or Bounds(), dialing or Dialing(), waits or Waits()
    async with AsyncExitStack() as stack:
        pool = HttpPool(remote, dialing, await dialing.trust())
        stack.push_async_callback(pool.aclose)
        tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        conversation = Http(remote, pool, tasks, on_request, on_notification, bounds, waits)
        stack.push_async_callback(conversation.close)
        yield conversation
