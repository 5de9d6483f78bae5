"""Routes of held calls: listing, allowing once and denying them."""

from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.decisions import Decision
from mcpguard.domain.people import Right
from mcpguard.guard.calls.holds.held_calls import tag
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import HeldCallAnswer, HeldCallsAnswer
from mcpguard.web.api.bodies import WhyBody
from mcpguard.web.api.pages import Cursor, Limit, page
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.matching import AS_SEEN, SHOWN, bind_to_if_match, etag
from mcpguard.web.gate.strict_routes import api_router


def held_calls(guard: Guard) -> APIRouter:
    router = api_router("held calls", "/held")
    decide = [may(Right.DECIDE)]

    def decided(request: Request, ticket: str, why: str) -> Decision:
        return Decision(bind_to_if_match(request, actor(request, guard), partial(guard.held.tag, ticket)), why)

    def shown(call: dict[str, Any]) -> JSONResponse:
        """Answer with a call and the ETag of its state when it was read, which may have changed since."""
        return JSONResponse(call, headers=etag(tag(call["state"], call["until"])))

    @router.get("", dependencies=[may(Right.AUDIT)], response_model=HeldCallsAnswer)
    async def every(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """List the calls that are held, allowed but not yet made, or recently denied, the oldest first."""
        found, after = page(await guard.held.every(), lambda call: str(call["id"]), limit, cursor)
        return JSONResponse({"held": list(found), "next": after})

    @router.get("/{ticket}", dependencies=[may(Right.AUDIT)], response_model=HeldCallAnswer, openapi_extra=SHOWN)
    async def one(ticket: str) -> JSONResponse:
        """Get one held call."""
        return shown(await guard.held.one(ticket))

    @router.post("/{ticket}/allow", dependencies=decide, response_model=HeldCallAnswer, openapi_extra=AS_SEEN | SHOWN)
    async def allow(request: Request, ticket: str, body: WhyBody) -> JSONResponse:
        """Allow a held call once: now if its agent still waits, otherwise when it makes the same call again."""
        return shown(await guard.held.allow(ticket, decided(request, ticket, body.why)))

    @router.post("/{ticket}/deny", dependencies=decide, response_model=HeldCallAnswer, openapi_extra=AS_SEEN | SHOWN)
    async def deny(request: Request, ticket: str, body: WhyBody) -> JSONResponse:
        """Deny a held call, or revoke its approval. The agent is told the reason."""
        return shown(await guard.held.deny(ticket, decided(request, ticket, body.why)))

    return router
