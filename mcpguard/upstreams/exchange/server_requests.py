"""Answering what a server asks, whichever way it came.

Rules kept here:
1. Each request is answered by a task of its own, so what it sets in motion holds up no reading.
2. Beyond a number in progress requests are refused, and beyond twice as many, from a server that does not even read its
   refusals, dropped. Those on the account of one call are counted by themselves, as clients may take their time.
3. What the server takes back is ended, and not answered, however soon it does so.
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


class Serving:
    """The requests of one server that are being answered. `send` raises Unsayable, or TransportEnded."""

    def __init__(self, on_request: OnRequest, send: Send, bounds: Bounds, counts: Counts) -> None:
        self._on_request = on_request
        self._send = send
        self._most = bounds.requests
        self._counts = counts
        self._now: Counter[Origin | None] = Counter()
        self._scopes: dict[Id, anyio.CancelScope] = {}

    def take(self, request: Request, origin: Origin | None, tasks: TaskGroup) -> None:
        now = self._now[origin]
        if now >= 2 * self._most:
            self._counts.dropped += 1
            return
        self._now[origin] += 1
        if now < self._most and request.id not in self._scopes:
            self._scopes[request.id] = scope = anyio.CancelScope()
            tasks.start_soon(self._serve, request, origin, scope, name="request of the server")
        else:
            tasks.start_soon(self._refuse, request, origin, name="request of the server")

    def taken_back(self, params: Params) -> None:
        """The server wants no answer any more to the request that it names."""
        id_ = (params or {}).get("requestId")
        scope = self._scopes.get(id_) if is_id(id_) else None
        if scope is not None:
            scope.cancel()

    async def _serve(self, request: Request, origin: Origin | None, scope: anyio.CancelScope) -> None:
        with self._counted(origin):
            try:
                with scope:
                    await self._answer(await self._found(request, origin))
            finally:
                del self._scopes[request.id]

    async def _found(self, request: Request, origin: Origin | None) -> Result | Failure:
        try:
            return Result(request.id, await self._on_request(request.method, request.params, origin))
        except RefusedRequest as refusal:
            return Failure(request.id, refusal.error)

    async def _refuse(self, request: Request, origin: Origin | None) -> None:
        with self._counted(origin):
            await self._answer(Failure(request.id, {"code": INTERNAL_ERROR, "message": "too many requests at once"}))

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
                said = {"code": INTERNAL_ERROR, "message": "the answer holds what no message can"}
                await self._send(Failure(answer.id, said))
        except TransportEnded:
            log.debug("upstream.answer_unsent")
