"""The servers that there are: to look at, to add, to change and to remove. Nothing here makes one trusted."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from mcpguard.domain.people import Right
from mcpguard.domain.upstreams import Origin
from mcpguard.guard.admission import Source
from mcpguard.guard.guard import Guard
from mcpguard.web.api.access import may
from mcpguard.web.api.actors import actor
from mcpguard.web.api.bodies import Added, Patched
from mcpguard.web.api.shown import shown
from mcpguard.web.api.strictly import StrictRoute


def servers(guard: Guard) -> APIRouter:
    router = APIRouter(route_class=StrictRoute)

    @router.get("/servers", dependencies=[may(Right.LOOK)])
    async def every() -> JSONResponse:
        return JSONResponse(guard.queries.servers())

    @router.get("/servers/{server}", dependencies=[may(Right.LOOK)])
    async def one(server: str) -> JSONResponse:
        return await shown(guard, server)

    @router.post("/servers", dependencies=[may(Right.DECIDE)])
    async def add(request: Request, body: Added) -> JSONResponse:
        added = await guard.admission.add(body.name, body.config, Source(Origin.CLI, actor(request, guard)))
        there = {"location": f"{request.url.path}/{added.name}"}
        return await shown(guard, added.name, 201, there, notices=added.notices)

    @router.patch("/servers/{server}", dependencies=[may(Right.DECIDE)])
    async def patch(request: Request, server: str, body: Patched) -> JSONResponse:
        patched = await guard.admission.patch(server, body.patch, body.revision, actor(request, guard))
        return await shown(guard, server, notices=patched.notices)

    @router.delete("/servers/{server}", dependencies=[may(Right.DECIDE)])
    async def remove(request: Request, server: str, revision: int) -> Response:
        await guard.admission.remove(server, revision, actor(request, guard))
        return Response(status_code=204)

    return router
