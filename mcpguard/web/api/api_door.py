"""The API in front of its routes, which are built for the first request: they are the slowest part of a start.

Rules kept here:
1. Each path has exactly one spelling: no route needs an escape, so a path that contains one is unknown.
2. No cache may store a response.
3. HEAD is GET without the body. Pages of other origins cannot read responses: there are no CORS headers.
"""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcpguard.guard.guard import Guard
from mcpguard.web.gate.problem import nothing_here
from mcpguard.web.lazy_app import LazyApp

HEAD: Final = "mcpguard.head"
"""The key that marks a HEAD request in its scope."""


class Api:
    """The application of the API, shared by all listeners. Takes HTTP only."""

    def __init__(self, guard: Guard) -> None:
        def build() -> ASGIApp:
            from mcpguard.web.api.api_app import routes  # noqa: PLC0415 - see above

            return routes(guard)

        self._routes = LazyApp(build)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = scope["method"] == "HEAD"

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["cache-control"] = "no-store"
            await send({**message, "body": b""} if head and message["type"] == "http.response.body" else message)

        if b"%" in scope.get("raw_path", b""):
            await nothing_here()(scope, receive, answer)
        else:
            await self._routes({**scope, "method": "GET", HEAD: True} if head else scope, receive, answer)
