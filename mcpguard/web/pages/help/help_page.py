"""`/help` and `/help/NAME`: the documentation, for everybody who is signed in."""

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.slow_libraries import freeze_loaded
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.help.help_documents import INDEX


def help_pages(_: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    @router.get("/help", dependencies=[may(Right.LOOK)])
    async def index(request: Request) -> Response:
        return await document(request, INDEX)

    @router.get("/help/{name}", dependencies=[may(Right.LOOK)])
    async def document(request: Request, name: str) -> Response:
        found = await to_thread.run_sync(desk.documents.document, name)
        freeze_loaded()
        if found is None:
            return desk.missing(request, "The documentation has no page of this name.")
        return await desk.long_page(
            request, "", "help.html", is_index=name == INDEX, headings=found.headings, body=found.body
        )

    return router
