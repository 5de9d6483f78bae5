"""Routes of the review of a server: inspecting it, and approving it as it was reviewed."""

from dataclasses import asdict
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import ApprovedAnswer, InspectedAnswer
from mcpguard.web.api.bodies import ApprovingBody, InspectionBody, fingerprint_of
from mcpguard.web.api.routes.decisions import deciding
from mcpguard.web.gate.access import may
from mcpguard.web.gate.matching import AS_SEEN
from mcpguard.web.gate.strict_routes import api_router


def reviews(guard: Guard) -> APIRouter:
    router = api_router("decisions", "/servers/{server}")
    decide = [may(Right.DECIDE)]
    decided = partial(deciding, guard)

    @router.post("/inspect", dependencies=decide, response_model=InspectedAnswer, openapi_extra=AS_SEEN)
    async def inspect(request: Request, server: str, body: InspectionBody) -> JSONResponse:
        """Inspect a server: read the list of its capabilities. A server that does not run is started for that, in a
        sandbox and without secrets."""
        decision, give = decided(request, server, body.why), frozenset(body.give)
        seen = fingerprint_of(body.seen)
        done = await guard.inspecting.inspect(server, decision, consent=body.consent, give=give, seen=seen)
        return JSONResponse(asdict(done))

    @router.post("/approve", dependencies=decide, response_model=ApprovedAnswer, openapi_extra=AS_SEEN)
    async def approve(request: Request, server: str, body: ApprovingBody) -> JSONResponse:
        """Approve a server as it was reviewed. It starts, and agents may use the approved capabilities."""
        done = await guard.decisions.approve(server, body.approval, decided(request, server, body.why))
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
        return JSONResponse({"approved": approved, "waiting": done.waiting, "unread": done.unread})

    return router
