"""`/settings/users`: the users, and adding one.

Rule kept here: no password is ever shown again, not even to whoever typed it.
"""

from collections import Counter
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor, Decision
from mcpguard.domain.people import Right, Role
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.people.typed_people import role_of, typed_twice

NOTHING: Final = SentForm([])


def users(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    administer = [may(Right.ADMINISTER)]

    def everybody(request: Request, given: SentForm = NOTHING, problem: PageProblem = FINE) -> Response:
        return desk.page(
            request,
            "settings",
            "users.html",
            problem.status,
            users=[*guard.people.users()],
            open_=Counter(session.user for session in guard.people.sessions()),
            needed=guard.setting_up.is_needed,
            roles=Role,
            given=given,
            problem=problem.sentence,
        )

    @router.get("/settings/users", dependencies=administer)
    async def page(request: Request) -> Response:
        return everybody(request)

    @router.post("/settings/users", dependencies=administer)
    async def add(request: Request) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            role, decision = role_of(given), Decision(by, given.one("why"))
            user = await guard.users.add(given.one("name").strip(), role, typed_twice(given), decision)
            return "/settings/users", DoneNotice(f"Added {user.name} as {user.role}.")

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return everybody(request, given, problem)

        return await desk.carried_out(request, work, again)

    return router
