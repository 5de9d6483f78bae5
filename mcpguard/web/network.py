"""The network listener's application: pages and health. The agents' faces join it when the gateway comes."""

from fastapi import FastAPI, Request
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp

from mcpguard import assets
from mcpguard.domain.clock import Ids
from mcpguard.guard.guard import Guard
from mcpguard.web.health import health
from mcpguard.web.pages.front import front
from mcpguard.web.requests import Requests
from mcpguard.web.security import LOOPBACK, BodyLimit, Headers, Hosts
from mcpguard.web.views import Views


def network_app(guard: Guard, port: int, new_id: Ids) -> ASGIApp:
    """Everything on the network goes through the same gates, outermost first: log, headers, host, size."""
    app = FastAPI(title="mcpguard", openapi_url=None, docs_url=None, redoc_url=None)
    views = Views(assets.webui() / "templates")
    app.include_router(health(guard, causes=False))
    app.include_router(front(guard, views))
    app.mount("/static", StaticFiles(directory=assets.webui() / "static"))

    @app.exception_handler(404)
    async def not_found(_: Request, __: Exception) -> Response:
        return views.page("error.html", status_code=404, title="Not found", sentence="There is no such page.")

    settings = guard.settings
    host = settings.address[0]
    ours = {f"{name}:{port}" for name in (*LOOPBACK, f"[{host}]" if ":" in host else host)}
    inner = Hosts(BodyLimit(app, settings.limits.body_bytes), ours | {*settings.hosts})
    return Requests(Headers(inner), "network", new_id)
