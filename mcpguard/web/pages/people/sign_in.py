"""`/login` and `/logout`: forms that work without scripts.

Rules kept here:
1. Nobody is told which of name and password was wrong, and neither is shown again.
2. Signing in, also again, creates a new session; the one before is no longer valid.
"""

import re
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from mcpguard.domain.errors import GuardError
from mcpguard.domain.people import Principal
from mcpguard.guard.guard import Guard
from mcpguard.guard.people.sign_in import SignedIn
from mcpguard.web.forms import FINE, PageProblem, fields, page_problem
from mcpguard.web.gate import cookies
from mcpguard.web.gate.actors import actor, peer_of
from mcpguard.web.views import PageViews

VIA: Final = "console"
_OURS: Final = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,2000}")


def signing(guard: Guard, views: PageViews) -> APIRouter:
    router = APIRouter()

    def page(request: Request, back: str, problem: PageProblem = FINE) -> Response:
        needed = guard.setting_up.is_needed
        return form_page(views, "login.html", problem, person=person_of(request), setup=needed, back=ours(back))

    @router.get("/login")
    async def login(request: Request) -> Response:
        return page(request, request.query_params.get("back", ""))

    @router.post("/login")
    async def signs_in(request: Request) -> Response:
        before, back = next(iter(cookies.session_cookies(request.scope)), ""), ""
        try:
            given = await fields(request)
            back = given.get("back", "")
            name, password = given.get("name", ""), given.get("password", "")
            done = await guard.signing_in.with_password(name, password, peer_of(request), before)
        except GuardError as error:
            return page(request, back, page_problem(error))
        return signed_in(done, request, ours(back))

    @router.get("/logout")
    async def logout(request: Request) -> Response:
        person = person_of(request)
        return form_page(views, "logout.html", FINE, person=person) if person else _signed_out(request)

    @router.post("/logout")
    async def signs_out(request: Request) -> Response:
        person = person_of(request)
        user = None if person is None else guard.people.user_of(person.id)
        if person is None or user is None:
            return _signed_out(request)
        by = actor(request, guard, VIA)
        try:
            if (await fields(request)).get("where") == "everywhere":
                await guard.signing_in.sign_out_everywhere(user, by)
            else:
                await guard.signing_in.sign_out(person.session, by)
        except GuardError as error:
            return form_page(views, "logout.html", page_problem(error), person=person)
        return _signed_out(request)

    return router


def form_page(views: PageViews, template: str, problem: PageProblem, **values: object) -> Response:
    """Render a form, with what was wrong."""
    page = views.page(template, problem.status, problem=problem.sentence, **values)
    if problem.wait:
        page.headers["retry-after"] = str(problem.wait)
    return page


def person_of(request: Request) -> Principal | None:
    """Return the user who is signed in; None for a program, whose token opens no forms."""
    principal: Principal | None = request.state.principal
    return principal if principal is not None and principal.kind == "user" else None


def signed_in(done: SignedIn, request: Request, back: str = "") -> Response:
    """Redirect to the wanted page, or to the start, with a session."""
    response = RedirectResponse(back or "/", 303, {"cache-control": "no-store"})
    cookies.give(response, request.scope, done.shown)
    return response


def ours(back: str) -> str:
    """Return the wanted page if it is one of ours; nothing else is redirected to."""
    return back if _OURS.fullmatch(back) else ""


def _signed_out(request: Request) -> Response:
    response = RedirectResponse("/login", 303, {"cache-control": "no-store"})
    cookies.take(response, request.scope)
    return response
