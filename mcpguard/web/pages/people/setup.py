"""`/setup`: creating the first admin, with the link that was printed on the terminal.

The page exists until the first user was created, and never again. Opening it changes nothing.
"""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.errors import GuardError
from mcpguard.domain.people import SetupOver
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, fields, page_problem
from mcpguard.web.gate.actors import peer_of
from mcpguard.web.pages.people.sign_in import form_page, signed_in
from mcpguard.web.views import PageViews


def setup(guard: Guard, views: PageViews) -> APIRouter:
    router = APIRouter()

    def page(key: str, problem: PageProblem = FINE) -> Response:
        return form_page(views, "setup.html", problem, key=key)

    def refused(error: GuardError, key: str) -> Response:
        if not guard.setting_up.is_needed:
            return views.page("error.html", 404, title="Not found", sentence="This page does not exist.")
        if isinstance(error, SetupOver):
            return views.page("error.html", 403, title="This link is not valid", sentence=page_problem(error).sentence)
        return page(key, page_problem(error))

    @router.get("/setup")
    async def form(request: Request) -> Response:
        key = request.query_params.get("key", "")
        try:
            await guard.setting_up.check(key)
        except GuardError as error:
            return refused(error, key)
        return page(key)

    @router.post("/setup")
    async def sets_up(request: Request) -> Response:
        key = ""
        try:
            given = await fields(request)
            key, password = given.get("key", ""), given.get("password", "")
            if password != given.get("again", ""):
                raise Undecidable("the two passwords do not match")
            done = await guard.setting_up.use(key, given.get("name", ""), password, peer_of(request))
        except GuardError as error:
            return refused(error, key)
        return signed_in(done, request)

    return router
