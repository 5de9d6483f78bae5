"""`/servers`: all servers, and bulk actions.

Rules kept here:
1. Several servers are quarantined or disabled at once, and never approved.
2. A server that changed since it was shown is left alone; the others are done, and the notice says both.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final, Self
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor, Decision, Stale, Undecidable, Unknown
from mcpguard.domain.errors import IllegalMove, StoreUnavailable
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.audit.call_sums import DayOfServers
from mcpguard.guard.guard import Guard
from mcpguard.guard.servers.registry import ServerState
from mcpguard.web.forms import FINE, Misshapen, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.gate.matching import Moved, bind_to_tag
from mcpguard.web.pages.base.console import Console, DoneNotice, principal
from mcpguard.web.pages.base.paging import ListPart, part
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.server_rows import ORDERS, USUAL, ServerRow, in_order, order_links, server_row

PAGE: Final = 200
LARGEST: Final = 64 * 1024
MOST: Final = PAGE + 20
NOTHING: Final = SentForm([])
NONE: Final = "Select at least one server"
UNSAID: Final = "Enter a reason; it applies to all selected servers"
STANDINGS: Final = tuple(each.value for each in UpstreamStanding)
CHOICES: Final = (*STANDINGS, "disabled")
ANSWERS: Final = {"quarantine": ("quarantined", "quarantined"), "disable": ("disabled", "disabled")}
_EACH_ITS_OWN: Final = (IllegalMove, Moved, Stale, Undecidable, Unknown)
"""What keeps one server from being done, and no other."""


@dataclass(frozen=True, slots=True)
class ServersQuery:
    """Which servers are shown: with this in their names, in this status, needing review, unreachable."""

    q: str = ""
    standing: str = ""
    waiting: bool = False
    unwell: bool = False
    sort: str = USUAL

    @classmethod
    def from_request(cls, request: Request) -> Self:
        """Read the query from the URL; unknown values are ignored."""
        given = request.query_params
        standing, sort = given.get("standing", ""), given.get("sort", "")
        return cls(
            given.get("q", "").strip()[:100],
            standing if standing in CHOICES else "",
            given.get("waiting") == "1",
            given.get("unwell") == "1",
            sort if sort.removeprefix("-") in ORDERS else USUAL,
        )

    def url(self, **changed: object) -> str:
        """Return the URL of these servers, with the query changed by `changed`."""
        now = {"q": self.q, "standing": self.standing, "waiting": self.waiting, "unwell": self.unwell}
        now |= {"sort": self.sort if self.sort != USUAL else ""} | changed
        said = urlencode({name: "1" if value is True else value for name, value in now.items() if value})
        return f"/servers?{said}" if said else "/servers"


def servers(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    async def shown(request: Request, given: SentForm = NOTHING, problem: PageProblem = FINE) -> Response:
        wanted = ServersQuery.from_request(request)
        every = guard.servers.every()
        waits = {each.known.name for each in guard.inbox.every()}
        day = await _day(guard) if principal(request).may(Right.AUDIT) else None
        fitting = [
            server_row(guard, known, day, waits=known.name in waits)
            for known in every
            if _fits(guard, known, wanted, waits)
        ]
        found = part(in_order(fitting, wanted.sort), request, PAGE)
        return await desk.long_page(
            request,
            "servers",
            "servers.html",
            problem.status,
            rows=found.of,
            tags={row.known.name: guard.queries.tag(row.known.name) for row in found.of},
            counted=day is not None,
            orders={order: wanted.url(sort=link) for order, link in order_links(wanted.sort).items()},
            found=found,
            all=len(every),
            scripts=guard.scripts is not None,
            wanted=wanted,
            urls=_urls(wanted, found),
            standings=CHOICES,
            typed={"why": given.one("why"), "chosen": given.every("choose"), "problem": problem.sentence},
        )

    @router.get("/servers", dependencies=[may(Right.LOOK)])
    async def page(request: Request) -> Response:
        return await shown(request)

    @router.post("/servers", dependencies=[may(Right.DECIDE)])
    async def several(request: Request) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            return ServersQuery.from_request(request).url(), await _several(guard, by, given)

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return await shown(request, given, problem)

        return await desk.carried_out(request, work, again, largest=LARGEST, most=MOST)

    return router


async def _day(guard: Guard) -> DayOfServers | None:
    """Return how all servers were used lately; None if the store cannot be read now."""
    try:
        return await guard.call_numbers.servers()
    except StoreUnavailable:
        return None


async def _several(guard: Guard, by: Actor, given: SentForm) -> DoneNotice:
    """Carry out a bulk action. Raises Misshapen, Undecidable, and what keeps it from all servers."""
    answer, why = given.one("decision"), given.one("why")
    if answer not in ANSWERS:
        raise Misshapen(400, "this is not a bulk action; reload the page and try again")
    rows = [each.partition(":") for each in given.every("choose")]
    if not rows:
        raise Undecidable(NONE)
    if not why.strip():
        raise Undecidable(UNSAID)
    failed: list[str] = []
    for name, _, tag in rows:
        try:
            await _do(guard, answer, name, Decision(_resting(guard, by, name, tag), why))
        except _EACH_ITS_OWN as error:
            failed.append(f"{name}: {_why(error)}")
    return _done(answer, len(rows), failed)


def _resting(guard: Guard, by: Actor, name: str, tag: str) -> Actor:
    return bind_to_tag(tag, by, partial(guard.queries.tag, name))


async def _do(guard: Guard, answer: str, name: str, decision: Decision) -> None:
    """Carry out the action on one server. Raises as the decision does, and Undecidable for an action that loosens
    protection.
    """
    known = guard.servers.find(name)
    if answer == "quarantine" and known is not None and known.upstream.standing is not UpstreamStanding.APPROVED:
        raise Undecidable("only approved servers can be quarantined here")
    await (guard.decisions.quarantine if answer == "quarantine" else guard.decisions.disable)(name, decision)


def _done(answer: str, all_: int, failed: list[str]) -> DoneNotice:
    said, kind = ANSWERS[answer]
    done = all_ - len(failed)
    sentence = f"{done} of {all_} {'server' if all_ == 1 else 'servers'} {said}."
    if failed:
        more = f", and {len(failed) - 5} more" if len(failed) > 5 else ""
        sentence += f" Not done: {'; '.join(failed[:5])}{more}."
    return DoneNotice(sentence, kind if done else "medium")


def _why(error: Exception) -> str:
    match error:
        case Moved() | Stale():
            return "changed while you were reading"
        case IllegalMove():
            return "already done"
        case Unknown():
            return "no longer exists"
        case _:
            return str(error)


def _fits(guard: Guard, known: ServerState, wanted: ServersQuery, waits: set[str]) -> bool:
    if wanted.q and wanted.q.lower() not in known.name:
        return False
    if wanted.standing == "disabled" and known.enabled:
        return False
    if wanted.standing in STANDINGS and known.upstream.standing != wanted.standing:
        return False
    if wanted.waiting and known.name not in waits:
        return False
    return not wanted.unwell or (known.runs and bool(guard.servers.status_of(known).error))


def _urls(wanted: ServersQuery, found: ListPart[ServerRow]) -> Json:
    return {
        "all": "/servers",
        "here": wanted.url(start=found.start),
        "standing": {each: wanted.url(standing="" if wanted.standing == each else each) for each in CHOICES},
        "waiting": wanted.url(waiting=not wanted.waiting),
        "unwell": wanted.url(unwell=not wanted.unwell),
        "next": wanted.url(start=found.next) if found.next else "",
        "first": wanted.url() if found.start else "",
    }
