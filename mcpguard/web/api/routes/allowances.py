"""Routes of allowances: listing and revoking what lets calls like a held one through for some minutes."""

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from mcpguard.domain.decisions import Decision
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.guard.calls.holds.held_calls import allowance_tag
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import AllowanceAnswer, AllowancesAnswer
from mcpguard.web.api.bodies import WhyBody
from mcpguard.web.api.pages import Cursor, Limit, page
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.matching import AS_SEEN, SHOWN, bind_to_if_match, etag
from mcpguard.web.gate.strict_routes import api_router


def allowances(guard: Guard) -> APIRouter:
    router = api_router("allowances", "/allowances")

    def now(allowance: str) -> str:
        return allowance_tag(guard.held.allowance(allowance))

    def shown(found: Json) -> JSONResponse:
        return JSONResponse(found, headers=etag(allowance_tag(found)))

    @router.get("", dependencies=[may(Right.AUDIT)], response_model=AllowancesAnswer)
    async def every(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """List the allowances that have not ended, the oldest first."""
        found, after = page(guard.held.allowances(), lambda each: str(each["id"]), limit, cursor)
        return JSONResponse({"allowances": list(found), "next": after})

    @router.get("/{allowance}", dependencies=[may(Right.AUDIT)], response_model=AllowanceAnswer, openapi_extra=SHOWN)
    async def one(allowance: str) -> JSONResponse:
        """Get one allowance that has not ended."""
        return shown(guard.held.allowance(allowance))

    @router.post(
        "/{allowance}/revoke",
        dependencies=[may(Right.DECIDE)],
        response_model=AllowanceAnswer,
        openapi_extra=AS_SEEN | SHOWN,
    )
    async def revoke(request: Request, allowance: str, body: WhyBody) -> JSONResponse:
        """End an allowance at once."""
        by = bind_to_if_match(request, actor(request, guard), partial(now, allowance))
        return shown(await guard.held.revoke_allowance(allowance, Decision(by, body.why)))

    return router
