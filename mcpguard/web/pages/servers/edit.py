"""`/servers/{name}/edit`: changing how a server is launched or reached, which puts it back into quarantine."""

from functools import partial
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor, NotDeclared, Unknown
from mcpguard.domain.people import Right
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.configuration import revision_in
from mcpguard.web.pages.servers.declaration_form import DROPPED, FIELDS, as_typed, patch_of, unshown_names
from mcpguard.web.pages.servers.one_server import OneServer, path_of

LARGEST: Final = 256 * 1024
MOST: Final = 200
NOTHING: Final = SentForm([])


def editing(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    one = OneServer(guard, desk)

    async def shown(
        request: Request,
        name: str,
        given: SentForm = NOTHING,
        problem: PageProblem = FINE,
        problems: tuple[str, ...] = (),
    ) -> Response:
        known = one.find(name)
        if known is None:
            return one.missing(request, name)
        server = await guard.queries.server(name)
        typed = as_typed(known, server["launch"])
        if problem is not FINE:
            typed |= {field: given.one(field) for field in FIELDS if field in typed}
        return await one.page(
            request,
            known,
            "configuration",
            "edit_server.html",
            problem.status,
            server=server,
            tag=guard.queries.tag(name),
            typed=typed,
            unshown=unshown_names(server["launch"]),
            dropped=given.every(DROPPED),
            problem="" if problems else problem.sentence,
            problems=problems,
            from_file=known.upstream.origin is Origin.FILE,
        )

    @router.get("/servers/{name}/edit", dependencies=[may(Right.DECIDE)])
    async def page(request: Request, name: str) -> Response:
        return await shown(request, name)

    @router.post("/servers/{name}/edit", dependencies=[may(Right.DECIDE)])
    async def edit(request: Request, name: str) -> Response:
        problems: tuple[str, ...] = ()

        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            nonlocal problems
            bound = desk.bind_to_page(by, given, partial(guard.queries.tag, name))
            try:
                return await _carried_out(guard, name, given, bound)
            except NotDeclared as error:
                problems = error.problems
                raise

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return await shown(request, name, given, problem, problems)

        return await desk.carried_out(request, work, again, largest=LARGEST, most=MOST)

    return router


async def _carried_out(guard: Guard, name: str, given: SentForm, by: Actor) -> tuple[str, DoneNotice]:
    """Change the declaration. Raises NotDeclared, and what `Admission.patch` raises."""
    server, known = await guard.queries.server(name), guard.servers.find(name)
    if known is None:
        raise Unknown(f"{name} was removed meanwhile")
    patch = patch_of(given, known, server["launch"])
    if not patch:
        return f"/servers/{name}/configuration", DoneNotice("Nothing was changed.", "info")
    done = await guard.admission.patch(name, patch, revision_in(given), by)
    now = await guard.queries.server(name)
    more = f" Ignored: {'; '.join(done.notices)}." if done.notices else ""
    if now["fingerprint"] == server["fingerprint"]:
        return f"/servers/{name}/configuration", DoneNotice(f"Saved.{more}", now["standing"])
    sentence = f"Saved. {name} is {now['standing']}, because what runs has changed.{more}"
    return path_of(name), DoneNotice(sentence, now["standing"])
