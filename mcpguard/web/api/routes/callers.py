"""Routes of callers: listing, adding and revoking them. A token is returned once, when it is created."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.callers import Scope
from mcpguard.domain.decisions import Decision
from mcpguard.domain.people import Right
from mcpguard.guard.callers.grants import CallerRequest
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import CallersAnswer, NewCallerAnswer, RevokedCallerAnswer
from mcpguard.web.api.bodies import GrantedBody, RevokedBody
from mcpguard.web.api.pages import Cursor, Limit, page
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.strict_routes import api_router


def callers(guard: Guard) -> APIRouter:
    router = api_router("callers", "/callers")

    @router.get("", dependencies=[may(Right.AUDIT)], response_model=CallersAnswer)
    async def every(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """List the callers that are not revoked, by name, and the scope of agents without a token."""
        found, after = page(guard.granting.callers_json(), lambda caller: str(caller["name"]), limit, cursor)
        return JSONResponse({"anonymous": guard.granting.anonymous_json(), "callers": list(found), "next": after})

    @router.post("", dependencies=[may(Right.ADMINISTER)], response_model=NewCallerAnswer, status_code=201)
    async def add(request: Request, body: GrantedBody) -> JSONResponse:
        """Add a caller. Only this answer has its token, if it gets one."""
        scope = Scope(tuple(body.servers), tuple(body.tools), frozenset(body.effects))
        wanted = CallerRequest(body.name, scope, body.expires_in, body.must_declare, body.manage, body.certificate)
        grant, token = await guard.granting.add(wanted, Decision(actor(request, guard), body.why))
        said = guard.granting.caller_json(grant) | {"token": token or None}
        return JSONResponse(said, 201, headers={"cache-control": "no-store"})

    @router.post("/{caller}/revoke", dependencies=[may(Right.ADMINISTER)], response_model=RevokedCallerAnswer)
    async def revoke(request: Request, caller: str, body: RevokedBody) -> JSONResponse:
        """Revoke a caller, by its id. Its open calls and sessions end."""
        grant = await guard.granting.revoke(caller, Decision(actor(request, guard), body.why))
        return JSONResponse(guard.granting.caller_json(grant) | {"standing": "revoked"})

    return router
