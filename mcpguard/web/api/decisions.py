"""What a person decides about a whole server. Each decision names its reason; the guard says what became of it."""

from dataclasses import asdict

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.decisions import Decision
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.api.access import may
from mcpguard.web.api.actors import actor
from mcpguard.web.api.bodies import Approving, Inspection, Permission, Why, printed
from mcpguard.web.api.shown import shown
from mcpguard.web.api.strictly import StrictRoute


def decisions(guard: Guard) -> APIRouter:
    router = APIRouter(prefix="/servers/{server}", route_class=StrictRoute)

    def decided(request: Request, why: str) -> Decision:
        return Decision(actor(request, guard), why)

    @router.post("/inspect", dependencies=[may(Right.DECIDE)])
    async def inspect(request: Request, server: str, body: Inspection) -> JSONResponse:
        decision, give = decided(request, body.why), frozenset(body.give)
        seen = printed(body.seen)
        done = await guard.inspecting.inspect(server, decision, consent=body.consent, give=give, seen=seen)
        return JSONResponse(asdict(done))

    @router.post("/approve", dependencies=[may(Right.DECIDE)])
    async def approve(request: Request, server: str, body: Approving) -> JSONResponse:
        done = await guard.decisions.approve(server, body.approval, decided(request, body.why))
        approved = [
            {
                "kind": one.kind,
                "name": one.name,
                "fingerprint": str(one.fingerprint),
                "effect": one.effect,
                "given": one.given,
            }
            for one in done.approved
        ]
        return JSONResponse({"approved": approved, "waiting": done.waiting})

    @router.post("/quarantine", dependencies=[may(Right.DECIDE)])
    async def quarantine(request: Request, server: str, body: Why) -> JSONResponse:
        await guard.decisions.quarantine(server, decided(request, body.why))
        return await shown(guard, server)

    @router.post("/block", dependencies=[may(Right.DECIDE)])
    async def block(request: Request, server: str, body: Why) -> JSONResponse:
        await guard.decisions.block(server, decided(request, body.why))
        return await shown(guard, server)

    @router.post("/enable", dependencies=[may(Right.DECIDE)])
    async def enable(request: Request, server: str, body: Why) -> JSONResponse:
        await guard.decisions.enable(server, decided(request, body.why))
        return await shown(guard, server)

    @router.post("/disable", dependencies=[may(Right.DECIDE)])
    async def disable(request: Request, server: str, body: Why) -> JSONResponse:
        await guard.decisions.disable(server, decided(request, body.why))
        return await shown(guard, server)

    @router.post("/permit", dependencies=[may(Right.DECIDE)])
    async def permit(request: Request, server: str, body: Permission) -> JSONResponse:
        await guard.decisions.permit(server, frozenset(body.kinds), decided(request, body.why))
        return await shown(guard, server)

    return router
