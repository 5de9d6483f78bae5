"""`/callers`: the agents that have a token, the scope of each, and what agents without one may do.

The page that creates a token is in `add_caller`.
"""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor, Decision
from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.domain.grants import ANONYMOUS
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute

NOTHING: Final = SentForm([])


def callers(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    async def shown(request: Request, caller: str, given: SentForm = NOTHING, problem: PageProblem = FINE) -> Response:
        """Show the page of one caller."""
        grant = guard.callers.find(caller)
        if grant is None:
            return desk.missing(request, "No agent has a token with this id, or it was revoked.")
        mine = Filter((FilterTerm(FilterKey.CALLER, (caller,)),))
        newest = await guard.auditing.page(mine, limit=1, newest_first=True)
        last = next(iter(newest.records), None)
        said = {"why": given.one("why"), "problem": problem.sentence}
        return desk.page(
            request,
            "callers",
            "caller.html",
            problem.status,
            caller=guard.granting.caller_json(grant[0]),
            last=last,
            said=said,
        )

    @router.get("/callers", dependencies=[may(Right.AUDIT)])
    async def every(request: Request) -> Response:
        more = {"callers": guard.granting.callers_json(), "anonymous": guard.granting.anonymous_json()}
        came = guard.callers.last_seen(ANONYMOUS)
        return desk.page(request, "callers", "callers.html", **more, came=came, started=guard.facts.started_at)

    @router.get("/callers/{caller}", dependencies=[may(Right.AUDIT)])
    async def one(request: Request, caller: str) -> Response:
        return await shown(request, caller)

    @router.post("/callers/{caller}", dependencies=[may(Right.ADMINISTER)])
    async def revoke(request: Request, caller: str) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            grant = await guard.granting.revoke(caller, Decision(by, given.one("why")))
            said = f"Revoked {grant.caller.label}. The token is no longer valid, and its open calls have ended."
            return "/callers", DoneNotice(said, "blocked")

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return await shown(request, caller, given, problem)

        return await desk.carried_out(request, work, again)

    return router
