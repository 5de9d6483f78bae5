"""The network listener's application: pages, health and the API, and beside them the agents' faces."""

from fastapi import FastAPI, Request
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from mcpguard import assets
from mcpguard.domain.clock import Ids
from mcpguard.guard.guard import Guard
from mcpguard.web.apart import Apart
from mcpguard.web.api.app import Api
from mcpguard.web.credentials import Credentials
from mcpguard.web.health import health
from mcpguard.web.pages.front import front
from mcpguard.web.pages.setup import setup
from mcpguard.web.pages.signing import signing
from mcpguard.web.problem import is_of_programs
from mcpguard.web.requests import Requests
from mcpguard.web.security import LOOPBACK, BodyLimit, Headers, Hosts
from mcpguard.web.views import Views

AGENTS = "/mcp"


def network_app(guard: Guard, api: Api, agents: ASGIApp, port: int, new_id: Ids) -> ASGIApp:
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

    known = Credentials(Apart(api, is_of_programs, app), guard.people, guard.tallies)
    return Apart(gated(agents), _is_of_agents, Requests(Headers(gated(known)), "network", new_id))


def _is_of_agents(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == AGENTS or path.startswith(AGENTS + "/")
