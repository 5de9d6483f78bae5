"""Answers the requests that a server makes, on every transport.

Rules kept here:
1. Each request is handled in its own task, so that it never delays reading.
2. Requests beyond a limit are refused. Beyond twice the limit they are dropped, as the server does not even read its
   refusals. Requests made during a call are counted per call, because a client may take its time to answer.
3. A request that the server cancels is stopped and gets no response, however early the cancellation arrives.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio
import structlog
from anyio.abc import TaskGroup

from mcpguard.codec.messages import Failure, Id, Request, Result, is_id
from mcpguard.upstreams.exchange.conversation import (
    INTERNAL_ERROR,
    Bounds,
    Counts,
    OnRequest,
    Origin,
    Params,
    RefusedRequest,
)
from mcpguard.upstreams.exchange.endings import Unsayable
from mcpguard.upstreams.exchange.transport import TransportEnded

Send = Callable[[Result | Failure], Awaitable[None]]
log = structlog.get_logger("mcpguard.upstreams")


class ServerRequests:
    """Answers the requests of one server. `send` raises Unsayable, or TransportEnded."""

    def __init__(self, on_request: OnRequest, send: Send, bounds: Bounds, counts: Counts) -> None:
        self._on_request = on_request
        self._send = send
        self._most = bounds.requests
        self._counts = counts
        self._now: Counter[Origin | None] = Counter()
        self._scopes: dict[Id, anyio.CancelScope] = {}

    def take(self, request: Request, origin: Origin | None, tasks: TaskGroup) -> None:
        now = self._now[origin]
        # A server that sends requests and reads no refusals would fill the pipe, and each refusal would be a waiting
        # task.
        if now >= 2 * self._most:
            self._counts.dropped += 1
            return
        self._now[origin] += 1
        if now < self._most and request.id not in self._scopes:
            # The scope exists before the task runs: a cancellation that follows in the same read finds it.
            self._scopes[request.id] = scope = anyio.CancelScope()
            tasks.start_soon(self._serve, request, origin, scope, name="request of the server")
        else:
            tasks.start_soon(self._refuse, request, origin, name="request of the server")

    def cancel(self, params: Params) -> None:
        """End the request that the server names in its cancellation; it gets no answer."""
        id_ = (params or {}).get("requestId")
        scope = self._scopes.get(id_) if is_id(id_) else None
        if scope is not None:
            scope.cancel()

    async def _serve(self, request: Request, origin: Origin | None, scope: anyio.CancelScope) -> None:
        with self._counted(origin):
            try:
                with scope:
                    await self._answer(await self._result(request, origin))
            finally:
                # Only now may the id be used again: a second request with the id of one in progress is refused.
                del self._scopes[request.id]

    async def _result(self, request: Request, origin: Origin | None) -> Result | Failure:
        try:
            return Result(request.id, await self._on_request(request.method, request.params, origin))
        except RefusedRequest as refusal:
            return Failure(request.id, refusal.error)

    async def _refuse(self, request: Request, origin: Origin | None) -> None:
        with self._counted(origin):
            await self._answer(
                Failure(request.id, {"code": INTERNAL_ERROR, "message": "too many requests in progress"})
            )

    @contextmanager
    def _counted(self, origin: Origin | None) -> Iterator[None]:
        try:
            yield
        finally:
            self._now[origin] -= 1
            if not self._now[origin]:
                del self._now[origin]

    async def _answer(self, answer: Result | Failure) -> None:
        try:
            try:
                await self._send(answer)
            except Unsayable:
                error = {"code": INTERNAL_ERROR, "message": "the answer cannot be encoded"}
                await self._send(Failure(answer.id, error))
        except TransportEnded:
            log.debug("upstream.answer_unsent")
