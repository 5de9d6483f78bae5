"""`/settings/sessions`: who is signed in, from where and since when; each session can be ended."""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor, Decision
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute

NOTHING: Final = SentForm([])


def sessions(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    administer = [may(Right.ADMINISTER)]

    def signed_in(request: Request, given: SentForm = NOTHING, problem: PageProblem = FINE) -> Response:
        rows = [(session, guard.people.user_of(session.user)) for session in guard.people.sessions()]
        more = {"sessions": rows, "why": given.one("why"), "problem": problem.sentence}
        return desk.page(request, "settings", "sessions.html", problem.status, **more)

    @router.get("/settings/sessions", dependencies=administer)
    async def page(request: Request) -> Response:
        return signed_in(request)

    @router.post("/settings/sessions", dependencies=administer)
    async def end(request: Request) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            user = await guard.users.end_session(given.one("session"), Decision(by, given.one("why")))
            return "/settings/sessions", DoneNotice(f"Signed out a session of {user.name}.", "blocked")

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return signed_in(request, given, problem)

        return await desk.carried_out(request, work, again)

    return router
