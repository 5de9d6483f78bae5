"""Calls in the name of a caller: finding what it could use, foreseeing what would become of a call, and making one.

Rules kept here:
1. A call goes the way that agents' calls go, within that caller's scope and budgets, and is one entry. Who made it
   stands in it.
2. Nobody is there who could be asked anything, or who hears what a server says meanwhile.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from mcpguard.codec.messages import dumps
from mcpguard.domain.asks import Answers, Asks, Capabilities, Declined
from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.grants import ANONYMOUS, CallerUnknown
from mcpguard.domain.people import Right
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import Era
from mcpguard.guard.calls.explanation import preview_json
from mcpguard.guard.calls.refusals import refusal
from mcpguard.guard.calls.request import CallResult
from mcpguard.guard.guard import Guard
from mcpguard.guard.search.tool_search import SearchScope
from mcpguard.web.api.answers import EndedAnswer, ForeseenAnswer, HitsAnswer
from mcpguard.web.api.calling import LONGEST_CALLER, WantedBody
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.strict_routes import api_router

EVERYTHING = Scope(("*",), ("*",), frozenset(Effect))
LONGEST_QUERY = 2000
MOST_FOUND = 100
Looked = Annotated[str, Query(min_length=1, max_length=LONGEST_QUERY, description="What the tool should do, in words.")]
InTheNameOf = Annotated[
    str | None,
    Query(min_length=1, max_length=LONGEST_CALLER, description="Id or name of a caller: only what it may find."),
]


class Unattended:
    """The counterpart of a call that a person makes: nobody waits at the other end."""

    name = "mcpguard api"
    era = Era.MODERN
    capabilities: Capabilities = {}  # noqa: RUF012 - nothing, for ever
    wants_progress = False
    log_level = None

    def progress(self, params: Mapping[str, Any]) -> None:
        """Heard by nobody."""

    def log(self, params: Mapping[str, Any]) -> None:
        """Heard by nobody."""

    async def ask(self, asks: Asks) -> Answers:  # noqa: ARG002 - whatever it is
        raise Declined(Reason.CLIENT_UNABLE)


def calls(guard: Guard) -> APIRouter:
    router = api_router("calls")

    @router.get("/search", dependencies=[may(Right.LOOK)], response_model=HitsAnswer)
    async def search(
        q: Looked, limit: Annotated[int, Query(ge=1, le=MOST_FOUND)] = 15, caller: InTheNameOf = None
    ) -> Response:
        """Tools that fit, the best first: of everything approved, or of what one caller may find."""
        scope = EVERYTHING if caller is None else found(guard, caller).scope
        return _json(guard.search(q, limit, SearchScope(scope, frozenset(Effect))))

    @router.post("/explain", dependencies=[may(Right.AUDIT)], response_model=ForeseenAnswer)
    async def explain(request: Request, body: WantedBody) -> JSONResponse:
        """What would become of this call now, and why, rule by rule. Nothing is sent, counted or recorded."""
        asked = body.asked(found(guard, body.caller), actor(request, guard).id)
        return JSONResponse(preview_json(asked, guard.calls.preview(asked)))

    @router.post("/call", dependencies=[may(Right.ADMINISTER)], response_model=EndedAnswer)
    async def call(request: Request, body: WantedBody) -> Response:
        """Make a call in the name of a caller, within its scope. The answer is 200 also where it was refused."""
        asked = body.asked(found(guard, body.caller), actor(request, guard).id)
        return _json(_ended(await guard.calls.handle(asked, Unattended())))

    return router


def found(guard: Guard, named: str) -> Caller:
    """The caller of this id, or else of this name. Raises CallerUnknown."""
    by_id = guard.callers.find(named)
    grant = by_id[0] if by_id is not None else guard.callers.find_by_label(named)
    if grant is not None:
        return grant.caller
    if named == ANONYMOUS and guard.callers.anonymous is not None:
        return guard.callers.anonymous
    raise CallerUnknown("there is no such caller; GET /api/v1/callers names those that there are")


def _ended(told: CallResult) -> dict[str, Any]:
    if told.result is None and told.error is None:
        return refusal(told)
    status = "failed" if told.outcome.kind is OutcomeKind.FAILED else "answered"
    said: dict[str, Any] = {"call_id": told.call, "status": status, "executed": told.outcome.executed.value}
    return said | ({"error": told.error} if told.result is None else {"result": told.result})


def _json(said: object) -> Response:
    """A server's own words may be long, and are written out as they came."""
    return Response(dumps(said), media_type="application/json")
