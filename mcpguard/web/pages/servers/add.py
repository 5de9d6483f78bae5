"""`/servers/add`: adding a server. It is quarantined, and not started."""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor, NotDeclared
from mcpguard.domain.people import Right
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.admission import DeclarationSource
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.declaration_form import FIELDS, members
from mcpguard.web.pages.servers.one_server import TAKEN, path_of

LARGEST: Final = 256 * 1024
NOTHING: Final = SentForm([])


def adding(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    def shown(
        request: Request, given: SentForm = NOTHING, problem: PageProblem = FINE, problems: tuple[str, ...] = ()
    ) -> Response:
        typed = {name: given.one(name) for name in FIELDS}
        there = guard.servers.find(TAKEN) is not None
        return desk.page(
            request,
            "servers",
            "add_server.html",
            problem.status,
            typed=typed,
            problem="" if problems else problem.sentence,
            problems=problems,
            same_name=path_of(TAKEN) if there else "",
        )

    @router.get("/servers/add", dependencies=[may(Right.DECIDE)])
    async def page(request: Request) -> Response:
        return shown(request)

    @router.post("/servers/add", dependencies=[may(Right.DECIDE)])
    async def add(request: Request) -> Response:
        problems: tuple[str, ...] = ()

        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            nonlocal problems
            try:
                added = await guard.admission.add(given.one("name"), members(given), DeclarationSource(Origin.CLI, by))
            except NotDeclared as error:
                problems = error.problems
                raise
            more = f" Ignored: {'; '.join(added.notices)}." if added.notices else ""
            sentence = f"Added {added.name}. It is in quarantine and was not started.{more}"
            return path_of(added.name), DoneNotice(sentence, "quarantined")

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return shown(request, given, problem, problems)

        return await desk.carried_out(request, work, again, largest=LARGEST)

    return router
