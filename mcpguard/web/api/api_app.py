"""The API as an application, with the same routes on the operator's socket and on the network.

Rules kept here:
1. Each path has exactly one spelling: no route needs an escape, so a path that contains one is unknown.
2. Every error is returned as a problem document, and no cache may store a response.
3. HEAD is GET without the body. Pages of other origins cannot read responses: there are no CORS headers.
4. The routes are built for the first request, because they are the slowest part of a start.
"""

from functools import partial

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from mcpguard import assets
from mcpguard.guard.guard import Guard
from mcpguard.web.api.routes.callers import callers
from mcpguard.web.api.routes.calls import calls
from mcpguard.web.api.routes.capabilities import capabilities
from mcpguard.web.api.routes.decisions import decisions
from mcpguard.web.api.routes.documents import documents
from mcpguard.web.api.routes.exports import HEAD, exports
from mcpguard.web.api.routes.guard import guarding
from mcpguard.web.api.routes.held_calls import held_calls
from mcpguard.web.api.routes.operators import operators
from mcpguard.web.api.routes.people import people, sessions
from mcpguard.web.api.routes.pruning import pruning
from mcpguard.web.api.routes.records import records
from mcpguard.web.api.routes.reviews import reviews
from mcpguard.web.api.routes.servers import servers
from mcpguard.web.api.routes.settings import settings
from mcpguard.web.api.routes.signing import signing
from mcpguard.web.gate.problems import nothing_here, tell_problems
from mcpguard.web.lazy_app import LazyApp
from mcpguard.web.metrics.page import metrics
from mcpguard.web.views import PageViews

SUBJECTS = (
    servers,
    reviews,
    decisions,
    capabilities,
    calls,
    held_calls,
    callers,
    exports,
    records,
    pruning,
    people,
    sessions,
    operators,
    settings,
    signing,
    guarding,
)


def routes(guard: Guard) -> FastAPI:
    """Build the routes, without the gates before them. Including a router would build its routes a second time."""
    app = FastAPI(title="mcpguard", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    tell_problems(app, guard.tallies)
    for subject in (*SUBJECTS, metrics):
        app.router.routes.extend(subject(guard).routes)
    app.router.routes.extend(documents(app, PageViews(assets.webui() / "templates")).routes)
    return app


class Api:
    """The application of the API, shared by all listeners. Takes HTTP only."""

    def __init__(self, guard: Guard) -> None:
        self._routes = LazyApp(partial(routes, guard))

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
