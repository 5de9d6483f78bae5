"""Routes of decisions about a server; each decision names its reason."""

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.decisions import Decision
from mcpguard.domain.people import Right
from mcpguard.domain.screening import Screening
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import ServerAnswer
from mcpguard.web.api.bodies import PermissionBody, ScreenedBody, WhyBody
from mcpguard.web.api.etag_responses import server_response
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.matching import AS_SEEN, SHOWN, bind_to_if_match
from mcpguard.web.gate.strict_routes import api_router


def deciding(guard: Guard, request: Request, server: str, why: str) -> Decision:
    """Make the decision of a request: its actor and reason. Raises Forbidden, NotNamed, Moved or Unknown."""
    return Decision(bind_to_if_match(request, actor(request, guard), partial(guard.queries.tag, server)), why)


def decisions(guard: Guard) -> APIRouter:
    router = api_router("decisions", "/servers/{server}")
    decide = [may(Right.DECIDE)]
    extra = AS_SEEN | SHOWN

    decided = partial(deciding, guard)

    @router.post("/reject", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def reject(request: Request, server: str, body: WhyBody) -> JSONResponse:
        """Keep a server in quarantine. It leaves the inbox until it changes or lists something else."""
        decision = decided(request, server, body.why)
        await guard.decisions.reject(server, guard.queries.seen_now(server), decision)
        return await server_response(guard, server)

    @router.post("/quarantine", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def quarantine(request: Request, server: str, body: WhyBody) -> JSONResponse:
        """Put a server in quarantine: this revokes its approval, or unblocks it."""
        await guard.decisions.quarantine(server, decided(request, server, body.why))
        return await server_response(guard, server)

    @router.post("/block", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def block(request: Request, server: str, body: WhyBody) -> JSONResponse:
        """Block a server, also under any other name."""
        await guard.decisions.block(server, decided(request, server, body.why))
        return await server_response(guard, server)

    @router.post("/enable", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def enable(request: Request, server: str, body: WhyBody) -> JSONResponse:
        """Enable a server that was disabled."""
        await guard.decisions.enable(server, decided(request, server, body.why))
        return await server_response(guard, server)

    @router.post("/disable", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def disable(request: Request, server: str, body: WhyBody) -> JSONResponse:
        """Disable a server: it stops, and keeps its status and approvals."""
        await guard.decisions.disable(server, decided(request, server, body.why))
        return await server_response(guard, server)

    @router.post("/restart", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def restart(request: Request, server: str, body: WhyBody) -> JSONResponse:
        """Stop a server and start it again. Calls under way end with it."""
        await guard.decisions.restart(server, decided(request, server, body.why))
        return await server_response(guard, server)

    @router.post("/permit", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def permit(request: Request, server: str, body: PermissionBody) -> JSONResponse:
        """Set which requests a server may send to clients; all others are denied."""
        await guard.decisions.permit(server, frozenset(body.kinds), decided(request, server, body.why))
        return await server_response(guard, server)

    @router.post("/screen", dependencies=decide, response_model=ServerAnswer, openapi_extra=extra)
    async def screen(request: Request, server: str, body: ScreenedBody) -> JSONResponse:
        """Set how the responses of a server are scanned."""
        mode = None if body.mode == "default" else Screening(body.mode)
        await guard.decisions.screen(server, mode, decided(request, server, body.why))
        return await server_response(guard, server)

    return router
