"""Routes of one capability: its definition, its changes, whether it can be called, and decisions about it."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Answer, Decision
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import CapabilityAnswer, DifferenceAnswer, ExplainedAnswer
from mcpguard.web.api.bodies import AboutBody, ApprovingOneBody, Print, fingerprint_of
from mcpguard.web.api.etag_responses import capability_response
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.matching import AS_SEEN, SHOWN, bind_to_if_match
from mcpguard.web.gate.strict_routes import api_router

Asked = Annotated[Print | None, Query()]


def capabilities(guard: Guard) -> APIRouter:
    router = api_router("capabilities", "/servers/{server}/capability")
    look, decided = [may(Right.LOOK)], [may(Right.DECIDE)]
    extra = AS_SEEN | SHOWN

    @router.get("", dependencies=look, response_model=CapabilityAnswer, openapi_extra=SHOWN)
    async def one(server: str, kind: CapabilityKind, name: str) -> JSONResponse:
        """Get everything about one capability: its definition, findings and versions."""
        return await capability_response(guard, server, (kind, name))

    @router.get("/diff", dependencies=look, response_model=DifferenceAnswer)
    async def diff(
        server: str, kind: CapabilityKind, name: str, before: Asked = None, after: Asked = None
    ) -> JSONResponse:
        """Compare two versions of a capability; by default the approved one with the one that is listed now."""
        return JSONResponse(
            await guard.queries.diff(server, (kind, name), fingerprint_of(before), fingerprint_of(after))
        )

    @router.get("/explain", dependencies=look, response_model=ExplainedAnswer)
    async def explain(server: str, kind: CapabilityKind, name: str) -> JSONResponse:
        """Explain whether a caller with full scope could call it now, and why not."""
        return JSONResponse(await guard.queries.explain(server, (kind, name)))

    async def decide(request: Request, server: str, answer: Answer, body: AboutBody) -> JSONResponse:
        by = bind_to_if_match(request, actor(request, guard), partial(guard.queries.tag, server, body.key))
        effect, read = (body.effect, body.findings_read) if isinstance(body, ApprovingOneBody) else (None, [])
        decision, seen = Decision(by, body.why), fingerprint_of(body.seen)
        await guard.decisions.decide(server, body.key, answer, seen, decision, effect, read)
        return await capability_response(guard, server, body.key)

    @router.post("/approve", dependencies=decided, response_model=CapabilityAnswer, openapi_extra=extra)
    async def approve(request: Request, server: str, body: ApprovingOneBody) -> JSONResponse:
        """Approve a capability in the version that was reviewed."""
        return await decide(request, server, Answer.APPROVE, body)

    @router.post("/revoke", dependencies=decided, response_model=CapabilityAnswer, openapi_extra=extra)
    async def revoke(request: Request, server: str, body: AboutBody) -> JSONResponse:
        """Revoke the approval of a capability."""
        return await decide(request, server, Answer.REVOKE, body)

    @router.post("/block", dependencies=decided, response_model=CapabilityAnswer, openapi_extra=extra)
    async def block(request: Request, server: str, body: AboutBody) -> JSONResponse:
        """Block a capability in all versions."""
        return await decide(request, server, Answer.BLOCK, body)

    @router.post("/unblock", dependencies=decided, response_model=CapabilityAnswer, openapi_extra=extra)
    async def unblock(request: Request, server: str, body: AboutBody) -> JSONResponse:
        """Unblock a capability. It needs review then."""
        return await decide(request, server, Answer.UNBLOCK, body)

    @router.post("/reject", dependencies=decided, response_model=CapabilityAnswer, openapi_extra=extra)
    async def reject(request: Request, server: str, body: AboutBody) -> JSONResponse:
        """Reject the reviewed version of a capability. It leaves the inbox until it changes."""
        return await decide(request, server, Answer.REJECT, body)

    return router
