"""`/settings/users/{user}`: one user, and what an admin can change.

Rule kept here: taking rights away needs no password of the admin; more rights, another password, and enabling a user
again do.
"""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor, Decision, Undecidable
from mcpguard.domain.people import Right, Role
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.people.typed_people import role_of, typed_twice

NOTHING: Final = SentForm([])


def user(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    administer = [may(Right.ADMINISTER)]

    def one(request: Request, name: str, given: SentForm = NOTHING, problem: PageProblem = FINE) -> Response:
        user = guard.people.user(name)
        if user is None:
            return desk.missing(request, "No user has this name.")
        sessions = [*guard.people.sessions(user)]
        said = {"given": given, "did": given.one("do"), "problem": problem.sentence}
        return desk.page(
            request, "settings", "user.html", problem.status, user=user, sessions=sessions, roles=Role, **said
        )

    @router.get("/settings/users/{name}", dependencies=administer)
    async def about(request: Request, name: str) -> Response:
        return one(request, name)

    @router.post("/settings/users/{name}", dependencies=administer)
    async def change(request: Request, name: str) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            done = await _changed(guard, name, Decision(by, given.one("why")), given)
            return f"/settings/users/{name}", done

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return one(request, name, given, problem)

        return await desk.carried_out(request, work, again)

    return router


async def _changed(guard: Guard, name: str, decision: Decision, given: SentForm) -> DoneNotice:
    """Carry out the change whose button was pressed."""
    match given.one("do"):
        case "sign-out":
            await guard.users.sign_out(name, decision)
            return DoneNotice(f"Signed {name} out everywhere.", "blocked")
        case "disable":
            await guard.users.disable(name, decision)
            return DoneNotice(f"Disabled {name} and ended all their sessions.", "disabled")
        case "enable":
            await guard.users.enable(name, decision)
            return DoneNotice(f"Enabled {name}.")
        case "role":
            user = await guard.users.role(name, role_of(given), decision)
            return DoneNotice(f"Changed the role of {name} to {user.role}.")
        case "password":
            await guard.users.password(name, typed_twice(given), decision)
            return DoneNotice(f"Reset the password of {name} and ended all their sessions.")
        case _:
            raise Undecidable("choose what to change")
