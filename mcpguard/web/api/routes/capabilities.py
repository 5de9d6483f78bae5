"""One capability of a server: what it is, how it changed, whether it can be called, and what a person decides."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Answer, Decision
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import CapabilityAnswer, DifferenceAnswer, ExplainedAnswer
from mcpguard.web.api.bodies import AboutBody, ApprovingOneBody, Print, printed
from mcpguard.web.api.shown import shown_one
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.matching import AS_SEEN, SHOWN, resting
from mcpguard.web.gate.strict_routes import api_router

Asked = Annotated[Print | None, Query()]


def capabilities(guard: Guard) -> APIRouter:
    router = api_router("capabilities", "/servers/{server}/capability")
    look, decided = [may(Right.LOOK)], [may(Right.DECIDE)]
    extra = AS_SEEN | SHOWN

    @router.get("", dependencies=look, response_model=CapabilityAnswer, openapi_extra=SHOWN)
    async def one(server: str, kind: CapabilityKind, name: str) -> JSONResponse:
        """Everything about one capability: its definition, what was found in it, and its versions."""
        return await shown_one(guard, server, (kind, name))

    @router.get("/diff", dependencies=look, response_model=DifferenceAnswer)
    async def diff(
        server: str, kind: CapabilityKind, name: str, before: Asked = None, after: Asked = None
    ) -> JSONResponse:
        """How two versions of it differ: what was approved and what is listed now, where none is named."""
        return JSONResponse(await guard.queries.diff(server, (kind, name), printed(before), printed(after)))

    @router.get("/explain", dependencies=look, response_model=ExplainedAnswer)
    async def explain(server: str, kind: CapabilityKind, name: str) -> JSONResponse:
        """Whether it can be called now, by whoever may call everything, and why not."""
        return JSONResponse(await guard.queries.explain(server, (kind, name)))

    async def decide(request: Request, server: str, answer: Answer, body: AboutBody) -> JSONResponse:
        by = resting(request, actor(request, guard), partial(guard.queries.tag, server, body.key))
        effect, read = (body.effect, body.findings_read) if isinstance(body, ApprovingOneBody) else (None, [])
        decision, seen = Decision(by, body.why), printed(body.seen)
        await guard.decisions.decide(server, body.key, answer, seen, decision, effect, read)
        return await shown_one(guard, server, body.key)

    @router.post("/approve", dependencies=decided, response_model=CapabilityAnswer, openapi_extra=extra)
    async def approve(request: Request, server: str, body: ApprovingOneBody) -> JSONResponse:
        """Approve a capability as it was seen."""
        return await decide(request, server, Answer.APPROVE, body)

    @router.post("/revoke", dependencies=decided, response_model=CapabilityAnswer, openapi_extra=extra)
    async def revoke(request: Request, server: str, body: AboutBody) -> JSONResponse:
        """Take the approval of a capability back."""
        return await decide(request, server, Answer.REVOKE, body)

    @router.post("/block", dependencies=decided, response_model=CapabilityAnswer, openapi_extra=extra)
    async def block(request: Request, server: str, body: AboutBody) -> JSONResponse:
        """Block a capability, whatever becomes of its definition."""
        return await decide(request, server, Answer.BLOCK, body)

    @router.post("/unblock", dependencies=decided, response_model=CapabilityAnswer, openapi_extra=extra)
    async def unblock(request: Request, server: str, body: AboutBody) -> JSONResponse:
        """Undo a block. It waits for a person then."""
        return await decide(request, server, Answer.UNBLOCK, body)

    @router.post("/reject", dependencies=decided, response_model=CapabilityAnswer, openapi_extra=extra)
    async def reject(request: Request, server: str, body: AboutBody) -> JSONResponse:
        """Say that this definition was looked at and is not wanted. It does not wait any more."""
        return await decide(request, server, Answer.REJECT, body)

    return router
