"""`/servers/{name}/configuration`: how a server is declared, what it may request, how its responses are scanned, and
its removal.

Only names and references of the environment and headers are shown, as `ServerQueries` returns them.
"""

from functools import partial
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.asks import AskKind
from mcpguard.domain.decisions import Actor, Decision
from mcpguard.domain.people import Right
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, Misshapen, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.one_server import OneServer, path_of

NOTHING: Final = SentForm([])
DEFAULT: Final = "default"


def configuration(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    one = OneServer(guard, desk)

    async def shown(request: Request, name: str, given: SentForm = NOTHING, problem: PageProblem = FINE) -> Response:
        known = one.find(name)
        if known is None:
            return one.missing(request, name)
        return await one.page(
            request,
            known,
            "configuration",
            "configuration.html",
            problem.status,
            tag=guard.queries.tag(name),
            modes=tuple(each.value for each in Screening),
            kinds=tuple(each.value for each in AskKind),
            typed={
                "about": given.one("decision"),
                "why": given.one("why"),
                "mode": given.one("mode"),
                "kinds": given.every("kind"),
                "problem": problem.sentence,
            },
            from_file=known.upstream.origin is Origin.FILE,
        )

    @router.get("/servers/{name}/configuration", dependencies=[may(Right.LOOK)])
    async def page(request: Request, name: str) -> Response:
        return await shown(request, name)

    @router.post("/servers/{name}/configuration", dependencies=[may(Right.DECIDE)])
    async def decide(request: Request, name: str) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            resting = desk.bind_to_page(by, given, partial(guard.queries.tag, name))
            return await _carried_out(guard, name, given, resting)

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return await shown(request, name, given, problem)

        return await desk.carried_out(request, work, again)

    return router


async def _carried_out(guard: Guard, name: str, given: SentForm, by: Actor) -> tuple[str, DoneNotice]:
    """Carry out the change. Raises Misshapen, and what the decision raises."""
    here, decision = f"/servers/{name}/configuration", Decision(by, given.one("why"))
    match given.one("decision"):
        case "screen":
            mode = given.one("mode")
            if mode not in (*Screening, DEFAULT):
                raise Misshapen(400, "unknown scan mode")
            await guard.decisions.screen(name, None if mode == DEFAULT else Screening(mode), decision)
            return here, DoneNotice(f"Saved: the response scan of {name} is {guard.servers.screening(name)}.", "person")
        case "permit":
            kinds = given.every("kind")
            if not {*kinds} <= {*AskKind}:
                raise Misshapen(400, "unknown kind of request")
            await guard.decisions.permit(name, frozenset(map(AskKind, kinds)), decision)
            return here, DoneNotice(f"Saved: {name} may request {', '.join(sorted(kinds)) or 'nothing'}.", "person")
        case "restart":
            await guard.decisions.restart(name, decision)
            return here, DoneNotice(f"Restarting {name}. Calls wait until it is ready.", "approved")
        case "pin":
            pinned = await guard.admission.pin_version(name, revision_in(given), by)
            now = (await guard.queries.server(pinned.name))["standing"]
            return path_of(name), DoneNotice(f"Pinned. {name} is {now}: inspect it, then approve it again.", now)
        case "remove":
            await guard.admission.remove(name, revision_in(given), by)
            return "/servers", DoneNotice(f"Removed {name}. Decisions about it are kept.", "disabled")
        case _:
            raise Misshapen(400, "this is not a decision about a server; reload the page and try again")


def revision_in(given: SentForm) -> int:
    """Return the revision of a server's entry that a form is for. Raises Misshapen."""
    revision = given.one("revision")
    if not (revision.isascii() and revision.isdecimal()):
        raise Misshapen(400, "the form is incomplete; reload the page and try again")
    return int(revision[:15])
