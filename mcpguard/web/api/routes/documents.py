"""Routes of the documentation: the OpenAPI document and a page made from it.

Neither contains data of this guard, so both are open to everyone.
"""

from functools import cache, partial
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import HTMLResponse, JSONResponse

from mcpguard.web.api.openapi import document
from mcpguard.web.api.reference import groups
from mcpguard.web.gate.access import OPEN
from mcpguard.web.gate.strict_routes import api_router
from mcpguard.web.views import PageViews


def documents(app: FastAPI, views: PageViews) -> APIRouter:
    router = api_router("documents")
    made = cache(partial(document, app))

    @router.get("/openapi.json", dependencies=[OPEN], response_model=dict[str, Any])
    async def openapi() -> JSONResponse:
        """Get this API as an OpenAPI document."""
        return JSONResponse(made())

    @router.get("/docs", dependencies=[OPEN], response_class=HTMLResponse)
    async def docs() -> HTMLResponse:
        """Get this API as a page for people."""
        return views.page("api.html", groups=groups(made()))

    return router
