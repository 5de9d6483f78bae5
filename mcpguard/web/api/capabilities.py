"""One capability of a server: what it is, how it changed, whether it can be called, and what a person decides."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import Answer, Decision
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.api.access import may
from mcpguard.web.api.actors import actor
from mcpguard.web.api.bodies import About, ApprovingOne, Print, printed
from mcpguard.web.api.strictly import StrictRoute

Asked = Annotated[Print | None, Query()]


def capabilities(guard: Guard) -> APIRouter:
    router = APIRouter(prefix="/servers/{server}/capability", route_class=StrictRoute)

    @router.get("", dependencies=[may(Right.LOOK)])
    async def one(server: str, kind: CapabilityKind, name: str) -> JSONResponse:
        return JSONResponse(await guard.queries.capability(server, (kind, name)))

    @router.get("/diff", dependencies=[may(Right.LOOK)])
    async def diff(
        server: str, kind: CapabilityKind, name: str, before: Asked = None, after: Asked = None
    ) -> JSONResponse:
        return JSONResponse(await guard.queries.diff(server, (kind, name), printed(before), printed(after)))

    @router.get("/explain", dependencies=[may(Right.LOOK)])
    async def explain(server: str, kind: CapabilityKind, name: str) -> JSONResponse:
        return JSONResponse(guard.queries.explain(server, (kind, name)))

    async def decide(
        request: Request, server: str, answer: Answer, body: About, effect: Effect | None = None
    ) -> JSONResponse:
        decision = Decision(actor(request, guard), body.why)
        await guard.decisions.decide(server, body.key, answer, printed(body.seen), decision, effect)
        return JSONResponse(await guard.queries.capability(server, body.key))

    @router.post("/approve", dependencies=[may(Right.DECIDE)])
    async def approve(request: Request, server: str, body: ApprovingOne) -> JSONResponse:
        return await decide(request, server, Answer.APPROVE, body, body.effect)

    @router.post("/revoke", dependencies=[may(Right.DECIDE)])
    async def revoke(request: Request, server: str, body: About) -> JSONResponse:
        return await decide(request, server, Answer.REVOKE, body)

    @router.post("/block", dependencies=[may(Right.DECIDE)])
    async def block(request: Request, server: str, body: About) -> JSONResponse:
        return await decide(request, server, Answer.BLOCK, body)

    @router.post("/unblock", dependencies=[may(Right.DECIDE)])
    async def unblock(request: Request, server: str, body: About) -> JSONResponse:
        return await decide(request, server, Answer.UNBLOCK, body)

    @router.post("/reject", dependencies=[may(Right.DECIDE)])
    async def reject(request: Request, server: str, body: About) -> JSONResponse:
        return await decide(request, server, Answer.REJECT, body)

    return router
