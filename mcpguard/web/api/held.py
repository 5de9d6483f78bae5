"""Calls that wait for a person: to look at, to allow once, to deny."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.decisions import Decision
from mcpguard.guard.guard import Guard
from mcpguard.web.api.actors import actor
from mcpguard.web.api.bodies import Why
from mcpguard.web.api.strictly import StrictRoute


def held(guard: Guard) -> APIRouter:
    router = APIRouter(prefix="/held", route_class=StrictRoute)

    @router.get("")
    async def every() -> JSONResponse:
        return JSONResponse(await guard.held.every())

    @router.get("/{ticket}")
    async def one(ticket: str) -> JSONResponse:
        return JSONResponse(await guard.held.one(ticket))

    @router.post("/{ticket}/allow")
    async def allow(request: Request, ticket: str, body: Why) -> JSONResponse:
        return JSONResponse(await guard.held.allow(ticket, Decision(actor(request, guard), body.why)))

    @router.post("/{ticket}/deny")
    async def deny(request: Request, ticket: str, body: Why) -> JSONResponse:
        return JSONResponse(await guard.held.deny(ticket, Decision(actor(request, guard), body.why)))

    return router
