"""Calls that wait for a person: to look at, to allow once, to deny."""

from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.decisions import Decision
from mcpguard.domain.people import Right
from mcpguard.guard.calls.held_calls import tag
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import HeldCallAnswer, HeldCallsAnswer
from mcpguard.web.api.bodies import WhyBody
from mcpguard.web.api.pages import Cursor, Limit, page
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.matching import AS_SEEN, SHOWN, etag, resting
from mcpguard.web.gate.strict_routes import api_router


def held(guard: Guard) -> APIRouter:
    router = api_router("held calls", "/held")
    decide = [may(Right.DECIDE)]

    def decided(request: Request, ticket: str, why: str) -> Decision:
        return Decision(resting(request, actor(request, guard), partial(guard.held.tag, ticket)), why)

    def shown(call: dict[str, Any]) -> JSONResponse:
        """With the tag of what it was when it was read: its agent may have used the answer up since."""
        return JSONResponse(call, headers=etag(tag(call["state"], call["until"])))

    @router.get("", dependencies=[may(Right.AUDIT)], response_model=HeldCallsAnswer)
    async def every(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """The calls that wait, that were allowed and not yet made, and that were denied lately; the oldest first."""
        found, after = page(await guard.held.every(), lambda call: str(call["id"]), limit, cursor)
        return JSONResponse({"held": list(found), "next": after})

    @router.get("/{ticket}", dependencies=[may(Right.AUDIT)], response_model=HeldCallAnswer, openapi_extra=SHOWN)
    async def one(ticket: str) -> JSONResponse:
        """One of them."""
        return shown(await guard.held.one(ticket))

    @router.post("/{ticket}/allow", dependencies=decide, response_model=HeldCallAnswer, openapi_extra=AS_SEEN | SHOWN)
    async def allow(request: Request, ticket: str, body: WhyBody) -> JSONResponse:
        """Allow the call, once: now if its agent still waits, else when it makes the same call again."""
        return shown(await guard.held.allow(ticket, decided(request, ticket, body.why)))

    @router.post("/{ticket}/deny", dependencies=decide, response_model=HeldCallAnswer, openapi_extra=AS_SEEN | SHOWN)
    async def deny(request: Request, ticket: str, body: WhyBody) -> JSONResponse:
        """Deny the call, or take back that it was allowed. Its agent is told the reason."""
        return shown(await guard.held.deny(ticket, decided(request, ticket, body.why)))

    return router
