"""Routes that are answered without the framework of the pages, which is loaded only where somebody looks at one."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

Endpoint = Callable[[Request], Awaitable[Response]]


class QuickRoutes:
    """Routes for GET by their exact paths. `endpoints`: the function of each."""

    def __init__(self) -> None:
        self.endpoints: dict[str, Endpoint] = {}

    def get(self, path: str) -> Callable[[Endpoint], Endpoint]:
        def add(endpoint: Endpoint) -> Endpoint:
            self.endpoints[path] = endpoint
            return endpoint

        return add

    def app_before(self, others: ASGIApp) -> ASGIApp:
        """Return an application with these routes. Every other request, also one with another method, goes on."""

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            asked = scope["type"] == "http" and scope["method"] == "GET"
            endpoint = self.endpoints.get(scope["path"]) if asked else None
            to = others if endpoint is None else await endpoint(Request(scope, receive))
            await to(scope, receive, send)

        return app
