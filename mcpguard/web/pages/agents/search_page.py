"""`/search`: what an agent would find for a query, and why in this order.

Rules kept here:
1. Only those who may see the agents can choose one; for others, all approved tools are searched.
2. Looking is no disclosure to an agent: nothing is recorded or counted.
"""

from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.errors import GuardError
from mcpguard.domain.grants import ANONYMOUS, CallerUnknown
from mcpguard.domain.json import Json
from mcpguard.domain.people import Principal, Right
from mcpguard.guard.guard import Guard
from mcpguard.guard.search.tool_search import SearchScope
from mcpguard.web.api.routes.calls import EVERYTHING, LONGEST_QUERY, find_caller
from mcpguard.web.forms import FINE, PageProblem, page_problem
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, principal
from mcpguard.web.pages.base.route import PageRoute

MOST: Final = 20
ANYBODY: Final = "*"
"""In place of a caller: everything that is approved is searched."""


@dataclass(frozen=True, slots=True)
class CallerChoice:
    """A caller that can be chosen, and how it is named."""

    value: str
    name: str


def search_page(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    @router.get("/search", dependencies=[may(Right.LOOK)])
    async def page(request: Request) -> Response:
        wanted = request.query_params.get("q", "").strip()[:LONGEST_QUERY]
        choices = _choices(guard, principal(request))
        chosen = request.query_params.get("caller", choices[0].value) if len(choices) > 1 else ANYBODY
        answer, problem = await _found(guard, wanted, chosen)
        return desk.page(
            request,
            "search",
            "search.html",
            problem.status,
            wanted=wanted,
            longest=LONGEST_QUERY,
            choices=choices,
            chosen=chosen,
            answer=answer,
            best=max((tool["score"] for tool in answer["tools"]), default=0.0) or 1.0 if answer else 1.0,
            problem=problem.sentence,
        )

    return router


def _choices(guard: Guard, me: Principal) -> list[CallerChoice]:
    """Return the callers that a reader can choose, the usual one first."""
    everything = CallerChoice(ANYBODY, "everything approved")
    if not me.may(Right.AUDIT):
        return [everything]
    nobody = [CallerChoice(ANONYMOUS, "anonymous, without a token")] if guard.callers.anonymous else []
    return [*nobody, *(CallerChoice(each.caller.label, each.caller.label) for each in guard.callers), everything]


async def _found(guard: Guard, wanted: str, chosen: str) -> tuple[Json | None, PageProblem]:
    """Return the answer to a query, if there is one, or why there is none."""
    if not wanted:
        return None, FINE
    try:
        wish = SearchScope(_scope(guard, chosen), frozenset(Effect))
        return await guard.explain_search(wanted, MOST, wish), FINE
    except GuardError as error:
        return None, page_problem(error)


def _scope(guard: Guard, chosen: str) -> Scope:
    if chosen == ANYBODY:
        return EVERYTHING
    try:
        return find_caller(guard, chosen).scope
    except CallerUnknown:
        raise CallerUnknown("no agent has this name; the page Agents lists them") from None
