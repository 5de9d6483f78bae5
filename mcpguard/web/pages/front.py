"""`/`: how the guard is."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from mcpguard.guard.guard import Guard
from mcpguard.web.views import Views


def front(guard: Guard, views: Views) -> APIRouter:
    router = APIRouter()

    @router.get("/")
    async def page(request: Request) -> HTMLResponse:
        return views.page("front.html", status=guard.status(), person=request.state.principal)

    return router
