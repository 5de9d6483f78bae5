"""Routes of calls on behalf of a caller: searching tools, testing a call, and making one.

Rules kept here:
1. A call takes the same path as calls of agents, within the caller's scope and budgets, and is one entry in the audit
   log, which names the user who made it.
2. There is no client to which a server could send requests, progress or log messages.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from mcpguard.codec.messages import dumps
from mcpguard.domain.asks import Answers, Asks, Capabilities, QuestionDeclined
from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.decisions import Decision
from mcpguard.domain.grants import ANONYMOUS, CallerUnknown
from mcpguard.domain.people import Right
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import Era
from mcpguard.guard.calls.explanation import preview_json
from mcpguard.guard.calls.refusals import refusal
from mcpguard.guard.calls.request import CallResult
from mcpguard.guard.guard import Guard
from mcpguard.guard.search.tool_search import SearchScope
from mcpguard.web.api.answers import EndedAnswer, ForeseenAnswer, HitsAnswer, LearnedAnswer
from mcpguard.web.api.answers.capability_answers import LearnedWordAnswer
from mcpguard.web.api.bodies import WhyBody
from mcpguard.web.api.calling import LONGEST_CALLER, ForgottenToolBody, WantedBody
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.strict_routes import api_router

EVERYTHING = Scope(("*",), ("*",), frozenset(Effect))
LONGEST_QUERY = 2000
MOST_FOUND = 100
Looked = Annotated[
    str, Query(min_length=1, max_length=LONGEST_QUERY, description="What the tool should do, in plain words.")
]
InTheNameOf = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=LONGEST_CALLER,
        description="Id or name of a caller: search only the tools that it can find.",
    ),
]


class AbsentClient:
    """The client of a call that a user makes: one that answers no questions and drops all messages."""

    name = "mcpguard api"
    era = Era.MODERN
    capabilities: Capabilities = {}  # noqa: RUF012 - nothing, for ever
    wants_progress = False
    log_level = None

    def for_call(self, server: str) -> "AbsentClient":  # noqa: ARG002 - it is the same for every server
        return self

    def progress(self, params: Mapping[str, Any]) -> None:
        """Drop the message."""

    def log(self, params: Mapping[str, Any]) -> None:
        """Drop the message."""

    async def ask(self, asks: Asks) -> Answers:  # noqa: ARG002 - all are declined
        raise QuestionDeclined(Reason.CLIENT_UNABLE)


def calls(guard: Guard) -> APIRouter:
    router = api_router("calls")

    @router.get("/search", dependencies=[may(Right.LOOK)], response_model=HitsAnswer)
    async def search(
        q: Looked,
        limit: Annotated[int, Query(ge=1, le=MOST_FOUND)] = 15,
        caller: InTheNameOf = None,
        why: Annotated[bool, Query(description="Whether to explain each match.")] = False,
    ) -> Response:
        """Search approved tools, or those that one caller can find; the best match comes first. Nothing is recorded."""
        wish = SearchScope(EVERYTHING if caller is None else find_caller(guard, caller).scope, frozenset(Effect))
        return _json(await (guard.explain_search if why else guard.search)(q, limit, wish))

    @router.post("/explain", dependencies=[may(Right.AUDIT)], response_model=ForeseenAnswer)
    async def explain(request: Request, body: WantedBody) -> JSONResponse:
        """Test a call: the verdict that it would get now, rule by rule. Nothing is sent, counted or recorded."""
        asked = body.call_request(find_caller(guard, body.caller), actor(request, guard).id)
        return JSONResponse(preview_json(asked, guard.calls.preview(asked)))

    @router.post("/call", dependencies=[may(Right.ADMINISTER)], response_model=EndedAnswer)
    async def call(request: Request, body: WantedBody) -> Response:
        """Make a call in the name of a caller, within its scope. The status is 200 even if the call was denied."""
        asked = body.call_request(find_caller(guard, body.caller), actor(request, guard).id)
        return _json(_ended(await guard.calls.handle(asked, AbsentClient())))

    return router


def learned_words(guard: Guard) -> APIRouter:
    router = api_router("learning", "/search/learned")
    decide = [may(Right.DECIDE)]

    @router.get("", dependencies=[may(Right.AUDIT)], response_model=LearnedAnswer)
    async def learned(server: str, name: str) -> LearnedAnswer:
        """Get the words of searches for which a tool is found more often."""
        found = guard.searching.learned_words(server, name)
        words = [LearnedWordAnswer(word=each.word, callers=each.callers) for each in found.words]
        return LearnedAnswer(server=server, name=name, enabled=found.enabled, words=words, callers=found.callers)

    @router.post("/forget", dependencies=decide, status_code=204)
    async def forget_tool(request: Request, body: ForgottenToolBody) -> Response:
        """Forget what search has learned of one tool, in every version; also where nothing is learned any more."""
        await guard.learning.forget(body.tool, Decision(actor(request, guard), body.why))
        return Response(status_code=204)

    @router.post("/forget-all", dependencies=decide, status_code=204)
    async def forget_everything(request: Request, body: WhyBody) -> Response:
        """Forget everything that search has learned; also where nothing is learned any more."""
        await guard.learning.forget(None, Decision(actor(request, guard), body.why))
        return Response(status_code=204)

    return router


def find_caller(guard: Guard, named: str) -> Caller:
    """Find a caller by id, or else by name. Raises CallerUnknown."""
    by_id = guard.callers.find(named)
    grant = by_id[0] if by_id is not None else guard.callers.find_by_label(named)
    if grant is not None:
        return grant.caller
    if named == ANONYMOUS and guard.callers.anonymous is not None:
        return guard.callers.anonymous
    raise CallerUnknown("unknown caller; GET /api/v1/callers lists all callers")


def _ended(told: CallResult) -> dict[str, Any]:
    if told.result is None and told.error is None:
        return refusal(told)
    status = "failed" if told.outcome.kind is OutcomeKind.FAILED else "answered"
    said: dict[str, Any] = {"call_id": told.call, "status": status, "executed": told.outcome.executed.value}
    return said | ({"error": told.error} if told.result is None else {"result": told.result})


def _json(said: object) -> Response:
    """Serialize an answer that may contain a long result of a server, which is passed on unchanged."""
    return Response(dumps(said), media_type="application/json")
