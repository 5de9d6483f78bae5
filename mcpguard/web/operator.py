"""The operator's socket: for whoever holds the guard's own account, known by the peer's credentials (`peer`)."""

from dataclasses import asdict

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp

from mcpguard.domain.clock import Ids
from mcpguard.guard.guard import Guard
from mcpguard.web.api.callers import callers
from mcpguard.web.api.capabilities import capabilities
from mcpguard.web.api.decisions import decisions
from mcpguard.web.api.held import held
from mcpguard.web.api.problems import tell_problems
from mcpguard.web.api.servers import servers
from mcpguard.web.api.settings import settings
from mcpguard.web.health import health
from mcpguard.web.requests import Requests
from mcpguard.web.security import BodyLimit

API = "/api/v1"


def operator_app(guard: Guard, new_id: Ids) -> ASGIApp:
    app = FastAPI(title="mcpguard operator", openapi_url=None, docs_url=None, redoc_url=None)
    tell_problems(app)
    app.include_router(health(guard, causes=True))
    for subject in (servers, decisions, capabilities, callers, held, settings):
        app.include_router(subject(guard), prefix=API)

    @app.get(f"{API}/status")
    async def status() -> dict[str, object]:
        return asdict(guard.status())

    @app.exception_handler(404)
    async def not_found(request: Request, _: Exception) -> JSONResponse:
        return JSONResponse({"message": f"{request.url.path} is not part of this API"}, status_code=404)

    return Requests(BodyLimit(app, guard.settings.limits.body_bytes), "operator", new_id)
