"""What the API says of itself: the OpenAPI document, and the same as a page. Neither holds anything of this guard, so
everybody may read them."""

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
        """This API, as an OpenAPI document."""
        return JSONResponse(made())

    @router.get("/docs", dependencies=[OPEN], response_class=HTMLResponse)
    async def docs() -> HTMLResponse:
        """The same as a page."""
        return views.page("api.html", groups=groups(made()))

    return router
