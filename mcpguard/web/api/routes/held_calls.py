"""Routes of held calls: listing, allowing once or for some minutes, and denying them."""

from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.decisions import Answer, Decision
from mcpguard.domain.people import Right
from mcpguard.domain.usual_reasons import HeldReason
from mcpguard.guard.calls.holds.allowances import AllowanceWish
from mcpguard.guard.calls.holds.held_calls import allowance_tag, tag
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import AllowanceAnswer, HeldCallAnswer, HeldCallInContextAnswer, HeldCallsAnswer
from mcpguard.web.api.bodies import AllowForBody, HeldAnswerBody
from mcpguard.web.api.pages import Cursor, Limit, page
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.matching import AS_SEEN, SHOWN, bind_to_if_match, etag
from mcpguard.web.gate.strict_routes import api_router


def held_calls(guard: Guard) -> APIRouter:
    router = api_router("held calls", "/held")
    decide = [may(Right.DECIDE)]

    def decided(request: Request, ticket: str, body: HeldAnswerBody, answer: Answer) -> Decision:
        by = bind_to_if_match(request, actor(request, guard), partial(guard.held.tag, ticket))
        return Decision(by, HeldReason.as_text(body.reason or "", body.why, answer))

    def shown(call: dict[str, Any]) -> JSONResponse:
        """Answer with a call and the ETag of its state when it was read, which may have changed since."""
        return JSONResponse(call, headers=etag(tag(call["state"], call["until"])))

    @router.get("", dependencies=[may(Right.AUDIT)], response_model=HeldCallsAnswer)
    async def every(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """List the calls that are held, allowed but not yet made, or recently denied, the oldest first."""
        found, after = page(await guard.held.every(), lambda call: str(call["id"]), limit, cursor)
        return JSONResponse({"held": list(found), "next": after})

    @router.get(
        "/{ticket}", dependencies=[may(Right.AUDIT)], response_model=HeldCallInContextAnswer, openapi_extra=SHOWN
    )
    async def one(ticket: str) -> JSONResponse:
        """Get one held call: its risk, what its caller did lately, and the answers to earlier ones like it."""
        return shown(await guard.held.one_in_context(ticket))

    @router.post("/{ticket}/allow", dependencies=decide, response_model=HeldCallAnswer, openapi_extra=AS_SEEN | SHOWN)
    async def allow(request: Request, ticket: str, body: HeldAnswerBody) -> JSONResponse:
        """Allow a held call once: now if its agent still waits, otherwise when it makes the same call again."""
        return shown(await guard.held.allow(ticket, decided(request, ticket, body, Answer.ALLOW)))

    @router.post(
        "/{ticket}/allow-for",
        dependencies=decide,
        response_model=AllowanceAnswer,
        openapi_extra=AS_SEEN | SHOWN,
    )
    async def allow_for(request: Request, ticket: str, body: AllowForBody) -> JSONResponse:
        """Allow a held call and its like for some minutes, at most 20 calls: of the same caller, tool and version."""
        wish = AllowanceWish(body.minutes, body.same)
        allowance = await guard.held.allow_for(ticket, decided(request, ticket, body, Answer.ALLOW), wish)
        return JSONResponse(allowance, headers=etag(allowance_tag(allowance)))

    @router.post("/{ticket}/deny", dependencies=decide, response_model=HeldCallAnswer, openapi_extra=AS_SEEN | SHOWN)
    async def deny(request: Request, ticket: str, body: HeldAnswerBody) -> JSONResponse:
        """Deny a held call, or revoke its approval. The agent is told the reason."""
        return shown(await guard.held.deny(ticket, decided(request, ticket, body, Answer.DENY)))

    return router
