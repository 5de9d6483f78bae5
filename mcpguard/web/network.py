"""The network listener's application: pages and health, and beside them the agents' faces."""

from fastapi import FastAPI, Request
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpguard import assets
from mcpguard.domain.clock import Ids
from mcpguard.guard.guard import Guard
from mcpguard.web.credentials import Credentials
from mcpguard.web.health import health
from mcpguard.web.pages.front import front
from mcpguard.web.pages.setup import setup
from mcpguard.web.pages.signing import signing
from mcpguard.web.requests import Requests
from mcpguard.web.security import LOOPBACK, BodyLimit, Headers, Hosts
from mcpguard.web.views import Views

AGENTS = "/mcp"


def network_app(guard: Guard, port: int, new_id: Ids, agents: ASGIApp) -> ASGIApp:
    """Everything on the network goes through the same gates, outermost first: log, headers, host, size, who it is.

    What agents ask is in the audit log and not in the program's, and they read no headers that are meant for browsers.
    """
    app = FastAPI(title="mcpguard", openapi_url=None, docs_url=None, redoc_url=None)
    views = Views(assets.webui() / "templates")
    app.include_router(health(guard, causes=False))
    app.include_router(front(guard, views))
    app.include_router(signing(guard, views))
    app.include_router(setup(guard, views))
    app.mount("/static", StaticFiles(directory=assets.webui() / "static"))

    @app.exception_handler(404)
    async def not_found(_: Request, __: Exception) -> Response:
        return views.page("error.html", status_code=404, title="Not found", sentence="There is no such page.")

    settings = guard.settings
    host = settings.address[0]
    ours = {f"{name}:{port}" for name in (*LOOPBACK, f"[{host}]" if ":" in host else host)}

    def gated(inner: ASGIApp) -> ASGIApp:
        return Hosts(BodyLimit(inner, settings.limits.body_bytes), ours | {*settings.hosts})

    known = Credentials(app, guard.people, guard.tallies)
    return _Apart(gated(agents), Requests(Headers(gated(known)), "network", new_id))


class _Apart:
    """Agents to their door, everybody else to the pages."""

    def __init__(self, agents: ASGIApp, pages: ASGIApp) -> None:
        self._agents = agents
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        is_agents = path == AGENTS or path.startswith(AGENTS + "/")
        await (self._agents if is_agents else self._pages)(scope, receive, send)
