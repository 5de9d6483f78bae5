"""Answering what a server asks, whichever way it came.

Each request is answered by a task of its own, so what it sets in motion holds up no reading. Beyond a number in
progress requests are refused, and beyond twice as many, from a server that does not even read its refusals, dropped.
"""

from collections.abc import Awaitable, Callable

import structlog
from anyio.abc import TaskGroup

from mcpguard.codec.messages import Failure, Request, Result
from mcpguard.upstreams.conversation import INTERNAL_ERROR, Bounds, Counts, OnRequest, Origin, Refused
from mcpguard.upstreams.transports.endings import Unsayable
from mcpguard.upstreams.transports.transport import TransportEnded

Send = Callable[[Result | Failure], Awaitable[None]]
log = structlog.get_logger("mcpguard.upstreams")


class Serving:
    """The requests of one server that are being answered. `send` raises Unsayable, or TransportEnded."""

    def __init__(self, on_request: OnRequest, send: Send, bounds: Bounds, counts: Counts) -> None:
        self._on_request = on_request
        self._send = send
        self._most = bounds.requests
        self._counts = counts
        self._now = 0

    def take(self, request: Request, origin: Origin | None, tasks: TaskGroup) -> None:
        if self._now >= 2 * self._most:
            self._counts.dropped += 1
            return
        serve = self._serve if self._now < self._most else self._refuse
        self._now += 1
        tasks.start_soon(serve, request, origin, name="request of the server")

    async def _serve(self, request: Request, origin: Origin | None) -> None:
        try:
            result = await self._on_request(request.method, request.params, origin)
        except Refused as refusal:
            await self._answer(Failure(request.id, {"code": refusal.code, "message": str(refusal)}))
        else:
            await self._answer(Result(request.id, result))

    async def _refuse(self, request: Request, _: Origin | None) -> None:
        await self._answer(Failure(request.id, {"code": INTERNAL_ERROR, "message": "too many requests at once"}))

    async def _answer(self, answer: Result | Failure) -> None:
        try:
            try:
                await self._send(answer)
            except Unsayable:
                said = {"code": INTERNAL_ERROR, "message": "the answer holds what no message can"}
                await self._send(Failure(answer.id, said))
        except TransportEnded:
            log.debug("upstream.answer_unsent")
        finally:
            self._now -= 1
