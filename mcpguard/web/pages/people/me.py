"""`/settings/me`: a user's own account: permissions, sessions, password.

Rule kept here: nobody reaches another account from here, whatever a form says: it is always about its sender.
"""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor
from mcpguard.domain.people import Right, User, UserUnknown
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import peer_of
from mcpguard.web.pages.base.console import Console, DoneNotice, principal
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.people.typed_people import typed_twice

PROGRAMS: Final = "API tokens have no account page; admins manage them under Settings, API tokens."
RIGHTS: Final = {
    Right.LOOK: "View servers, their tools and findings",
    Right.AUDIT: "View agents and their activity: audit log, held calls with their arguments",
    Right.DECIDE: "Add, inspect and review servers; review held calls",
    Right.ADMINISTER: "Manage the tokens of agents, users and API tokens; confirm settings",
}


def me(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    def shown(request: Request, problem: PageProblem = FINE, about: str = "") -> Response:
        user = _user(guard, request)
        if user is None:
            return desk.missing(request, PROGRAMS)
        return desk.page(
            request,
            "settings",
            "me.html",
            problem.status,
            user=user,
            sessions=[*guard.people.sessions(user)],
            rights=[(right, said, right in user.role.rights) for right, said in RIGHTS.items()],
            recent=guard.settings.people.recent_seconds // 60,
            said={"about": about, "problem": problem.sentence},
        )

    @router.get("/settings/me", dependencies=[may(Right.LOOK)])
    async def page(request: Request) -> Response:
        return shown(request)

    @router.post("/settings/me/password", dependencies=[may(Right.LOOK)])
    async def password(request: Request) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            sender, new = principal(request), typed_twice(given)
            await guard.own_password.change(sender, given.one("present"), new, peer_of(request), by)
            return "/settings/me", DoneNotice("Changed your password and ended your other sessions.")

        async def again(_: SentForm, problem: PageProblem) -> Response:
            return shown(request, problem, "password")

        return await desk.carried_out(request, work, again)

    @router.post("/settings/me/sessions", dependencies=[may(Right.LOOK)])
    async def end(request: Request) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            return await _ended(guard, _user(guard, request), given.one("session"), by)

        async def again(_: SentForm, problem: PageProblem) -> Response:
            return shown(request, problem, "sessions")

        return await desk.carried_out(request, work, again)

    return router


def _user(guard: Guard, request: Request) -> User | None:
    """Return the user who sends the request; None for a program."""
    by = principal(request)
    return guard.people.user_of(by.id) if by.kind == "user" else None


async def _ended(guard: Guard, user: User | None, wanted: str, by: Actor) -> tuple[str, DoneNotice]:
    """End one session of the user, or all. Raises UserUnknown."""
    if user is None:
        raise UserUnknown(PROGRAMS)
    if wanted == "every":
        await guard.signing_in.sign_out_everywhere(user, by)
        return "/login", DoneNotice("Signed you out everywhere.")
    if wanted not in {session.id for session in guard.people.sessions(user)}:
        raise UserUnknown("this session has ended already, or is not yours")
    await guard.signing_in.sign_out(wanted, by)
    return "/settings/me", DoneNotice("Ended the session.", "blocked")
