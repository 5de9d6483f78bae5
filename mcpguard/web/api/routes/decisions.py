"""What a person decides about a server at any time; each decision names its reason."""

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.decisions import Decision
from mcpguard.domain.people import Right
from mcpguard.domain.screening import Screening
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import ServerAnswer
from mcpguard.web.api.bodies import PermissionBody, ScreenedBody, WhyBody
from mcpguard.web.api.shown import shown
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.matching import AS_SEEN, SHOWN, resting
from mcpguard.web.gate.strict_routes import api_router


def deciding(guard: Guard, request: Request, server: str, why: str) -> Decision:
    """Who decides about this server, and why. Raises Forbidden, NotNamed, Moved or Unknown."""
    return Decision(resting(request, actor(request, guard), partial(guard.queries.tag, server)), why)


def decisions(guard: Guard) -> APIRouter:
    router = api_router("decisions", "/servers/{server}")
    decide = [may(Right.DECIDE)]
    extra = AS_SEEN | SHOWN

    decided = partial(deciding, guard)

    @router.post("/reject", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def reject(request: Request, server: str, body: WhyBody) -> JSONResponse:
        """Leave a server in quarantine: it does not wait any more, until it is another or lists anything else."""
        decision = decided(request, server, body.why)
        await guard.decisions.reject(server, guard.queries.seen_now(server), decision)
        return await shown(guard, server)

    @router.post("/quarantine", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def quarantine(request: Request, server: str, body: WhyBody) -> JSONResponse:
        """Take the approval of a server back, or its block."""
        await guard.decisions.quarantine(server, decided(request, server, body.why))
        return await shown(guard, server)

    @router.post("/block", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def block(request: Request, server: str, body: WhyBody) -> JSONResponse:
        """Block a server, whatever name it comes under again."""
        await guard.decisions.block(server, decided(request, server, body.why))
        return await shown(guard, server)

    @router.post("/enable", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def enable(request: Request, server: str, body: WhyBody) -> JSONResponse:
        """Undo a `disable`."""
        await guard.decisions.enable(server, decided(request, server, body.why))
        return await shown(guard, server)

    @router.post("/disable", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def disable(request: Request, server: str, body: WhyBody) -> JSONResponse:
        """Stop a server, and leave where it stands."""
        await guard.decisions.disable(server, decided(request, server, body.why))
        return await shown(guard, server)

    @router.post("/permit", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def permit(request: Request, server: str, body: PermissionBody) -> JSONResponse:
        """Say what a server may ask of clients, and that it may ask nothing else."""
        await guard.decisions.permit(server, frozenset(body.kinds), decided(request, server, body.why))
        return await shown(guard, server)

    @router.post("/screen", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def screen(request: Request, server: str, body: ScreenedBody) -> JSONResponse:
        """Say how what a server says is screened."""
        mode = None if body.mode == "default" else Screening(body.mode)
        await guard.decisions.screen(server, mode, decided(request, server, body.why))
        return await shown(guard, server)

    return router
