"""What a person decides about a whole server. Each decision names its reason; the guard says what became of it."""

from dataclasses import asdict

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.decisions import Decision
from mcpguard.domain.screening import Screening
from mcpguard.guard.guard import Guard
from mcpguard.web.api.actors import actor
from mcpguard.web.api.bodies import Approving, Inspection, Permission, Screened, Why, printed
from mcpguard.web.api.shown import shown
from mcpguard.web.api.strictly import StrictRoute


def decisions(guard: Guard) -> APIRouter:
    router = APIRouter(prefix="/servers/{server}", route_class=StrictRoute)

    def decided(request: Request, why: str) -> Decision:
        return Decision(actor(request, guard), why)

    @router.post("/inspect")
    async def inspect(request: Request, server: str, body: Inspection) -> JSONResponse:
        decision, give = decided(request, body.why), frozenset(body.give)
        seen = printed(body.seen)
        done = await guard.inspecting.inspect(server, decision, consent=body.consent, give=give, seen=seen)
        return JSONResponse(asdict(done))

    @router.post("/approve")
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

    @router.post("/quarantine")
    async def quarantine(request: Request, server: str, body: Why) -> JSONResponse:
        await guard.decisions.quarantine(server, decided(request, body.why))
        return await shown(guard, server)

    @router.post("/block")
    async def block(request: Request, server: str, body: Why) -> JSONResponse:
        await guard.decisions.block(server, decided(request, body.why))
        return await shown(guard, server)

    @router.post("/enable")
    async def enable(request: Request, server: str, body: Why) -> JSONResponse:
        await guard.decisions.enable(server, decided(request, body.why))
        return await shown(guard, server)

    @router.post("/disable")
    async def disable(request: Request, server: str, body: Why) -> JSONResponse:
        await guard.decisions.disable(server, decided(request, body.why))
        return await shown(guard, server)

    @router.post("/permit")
    async def permit(request: Request, server: str, body: Permission) -> JSONResponse:
        await guard.decisions.permit(server, frozenset(body.kinds), decided(request, body.why))
        return await shown(guard, server)

    @router.post("/screen")
    async def screen(request: Request, server: str, body: Screened) -> JSONResponse:
        mode = None if body.mode == "default" else Screening(body.mode)
        await guard.decisions.screen(server, mode, decided(request, body.why))
        return await shown(guard, server)

    return router
