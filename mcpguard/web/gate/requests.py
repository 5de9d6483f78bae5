"""Assigns every request an id, which is in the response and in every log line about the request."""

import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, clear_contextvars

from mcpguard.domain.clock import Ids

log = structlog.get_logger("mcpguard.web")
QUIET = {"/healthz", "/readyz"}  # asked every few seconds by machines; logged only when they fail


class Requests:
    """The outermost gate of a listener. Request ids of clients are ignored, because they could be forged."""

    def __init__(self, app: ASGIApp, door: str, new_id: Ids) -> None:
        self._app = app
        self._door = door
        self._new_id = new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, status, began = self._new_id(), 500, time.perf_counter()
        clear_contextvars()
        bind_contextvars(request=request_id, door=self._door)

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            if status >= 500 or scope["path"] not in QUIET:
                milliseconds = round((time.perf_counter() - began) * 1000, 1)
                log.info("request", method=scope["method"], path=scope["path"][:200], status=status, ms=milliseconds)
