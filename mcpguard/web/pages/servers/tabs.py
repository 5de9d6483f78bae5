"""The other pages of a server: its capabilities, changes since approval, calls, log and decisions."""

from typing import Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Unknown
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.guard.audit.server_decisions import server_decisions
from mcpguard.guard.guard import Guard
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.paging import part
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.decision_rows import decision_row
from mcpguard.web.pages.servers.one_server import OneServer

PAGE: Final = 200
CALLS: Final = 50
LINES: Final = 500
MOST_DIFFS: Final = 50
STANDINGS: Final = tuple(each.value for each in CapabilityStanding)


def tabs(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    one = OneServer(guard, desk)

    @router.get("/servers/{name}/capabilities", dependencies=[may(Right.LOOK)])
    async def capabilities(request: Request, name: str) -> Response:
        if (known := one.find(name)) is None:
            return one.missing(request, name)
        wanted = {word: request.query_params.get(word, "")[:200] for word in ("q", "standing")}
        server = await guard.queries.server(name)
        every = server["capabilities"]
        found = part([each for each in every if _fits(each, wanted)], request, PAGE)
        return await one.page(
            request,
            known,
            "capabilities",
            "capabilities.html",
            server=server,
            found=found,
            wanted=wanted,
            standings=[(each, sum(_stands(one_) == each for one_ in every)) for each in (*STANDINGS, "gone")],
            more=_url(name, wanted, found.next),
            first=_url(name, wanted, 0) if found.start else "",
            urls={each: _url(name, wanted | {"standing": each}, 0) for each in ("", *STANDINGS, "gone")},
        )

    @router.get("/servers/{name}/changes", dependencies=[may(Right.LOOK)])
    async def changes(request: Request, name: str) -> Response:
        if (known := one.find(name)) is None:
            return one.missing(request, name)
        moved = [pin for _, pin in sorted(known.pins.items()) if _moved(pin)]
        found = part(moved, request, MOST_DIFFS)
        return await one.page(
            request,
            known,
            "changes",
            "changes.html",
            diffs=[(pin, await _diff(guard, name, pin)) for pin in found.of],
            new=[pin for _, pin in sorted(known.pins.items()) if pin.waits and not _moved(pin)][:PAGE],
            found=found,
            more=f"/servers/{name}/changes?start={found.next}" if found.next else "",
        )

    return router


def logs(guard: Guard, desk: Console) -> APIRouter:
    """Show what was recorded of a server, and its own output."""
    router = APIRouter(route_class=PageRoute)
    one = OneServer(guard, desk)

    @router.get("/servers/{name}/calls", dependencies=[may(Right.AUDIT)])
    async def calls(request: Request, name: str) -> Response:
        if (known := one.find(name)) is None:
            return one.missing(request, name)
        return await one.page(request, known, "calls", "server_calls.html", calls=await one.calls(name, CALLS))

    @router.get("/servers/{name}/decisions", dependencies=[may(Right.AUDIT)])
    async def decisions(request: Request, name: str) -> Response:
        if (known := one.find(name)) is None:
            return one.missing(request, name)
        try:
            found = await server_decisions(guard.auditing, name)
        except StoreUnavailable:
            found = None
        rows = [decision_row(each) for each in found.decisions] if found else []
        more = found is not None and found.has_more
        return await one.page(
            request, known, "decisions", "server_decisions.html", rows=rows, more=more, unreadable=found is None
        )

    @router.get("/servers/{name}/logs", dependencies=[may(Right.DECIDE)])
    async def log(request: Request, name: str) -> Response:
        if (known := one.find(name)) is None:
            return one.missing(request, name)
        lines = await guard.tailing.as_stored(name, LINES)
        return await one.page(request, known, "logs", "server_logs.html", lines=lines, most=LINES)

    return router


def _fits(each: Json, wanted: Json) -> bool:
    if wanted["q"] and wanted["q"].lower() not in each["name"].lower():
        return False
    return wanted["standing"] in ("", _stands(each))


def _stands(each: Json) -> str:
    """Return the status of a capability, or that the server no longer lists it."""
    return str(each["standing"]) if each["present"] else "gone"


def _moved(pin: Pin) -> bool:
    return pin.present and pin.approved is not None and pin.listed != pin.approved


async def _diff(guard: Guard, name: str, pin: Pin) -> Json | None:
    """Compare two versions; None where one of them cannot be read, or is not kept any more."""
    try:
        return await guard.queries.diff(name, (pin.kind, pin.name), pin.approved, pin.listed)
    except Unknown:
        return None


def _url(name: str, wanted: Json, start: int) -> str:
    said = urlencode({word: value for word, value in {**wanted, "start": start}.items() if value})
    return f"/servers/{name}/capabilities" + (f"?{said}" if said else "")
