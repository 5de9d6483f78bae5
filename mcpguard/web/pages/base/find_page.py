"""`/find`: goes to a page, a server, a capability, an agent, a call or a part of the documentation by a part of its
name.

Rules kept here:
1. Only what the reader may see is found.
2. The work is bounded: names are compared in memory, and at most `MOST` of each sort are shown.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.domain.people import Principal, Right
from mcpguard.guard.audit.audit_log import RecordUnknown
from mcpguard.guard.guard import Guard
from mcpguard.slow_libraries import freeze_loaded
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, principal
from mcpguard.web.pages.base.rail import PLACES
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.capability import url_of
from mcpguard.web.pages.servers.one_server import path_of

MOST: Final = 12
LONGEST: Final = 100
_CALL: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """Something that can be gone to. `sort`: what it is; `note`: what tells it from others of the same name."""

    sort: str
    name: str
    link: str
    note: str = ""


def find(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    @router.get("/find", dependencies=[may(Right.LOOK)])
    async def page(request: Request) -> Response:
        wanted = request.query_params.get("q", "").strip()[:LONGEST]
        found = [*_found(guard, principal(request), wanted.casefold())] if wanted else []
        if principal(request).may(Right.AUDIT) and _CALL.fullmatch(wanted):
            found += await _calls(guard, wanted)
        if wanted:
            found += await to_thread.run_sync(_documented, desk, wanted.casefold())
            freeze_loaded()
        return desk.page(request, "", "find.html", wanted=wanted, found=found)

    return router


async def _calls(guard: Guard, wanted: str) -> list[FoundPlace]:
    """Return the call with this id, if there is one."""
    try:
        first, *_ = await guard.auditing.call(wanted)
    except (RecordUnknown, StoreUnavailable, ValueError):
        return []
    said = first["content"] or {}
    return [FoundPlace("call", f"{said.get('server', '')}:{said.get('name', '')}", f"/calls/{wanted}", wanted)]


def _documented(desk: Console, wanted: str) -> list[FoundPlace]:
    """Return what the documentation has under such headings."""
    places = islice(desk.documents.find(wanted), MOST)
    return [FoundPlace("help", place.heading, place.address, place.within) for place in places]


def _found(guard: Guard, me: Principal, wanted: str) -> Iterator[FoundPlace]:
    """Yield what has these letters in its name: pages, servers, agents, capabilities."""
    pages = (FoundPlace("page", place.name, place.path) for place in PLACES if me.may(place.right))
    yield from _some(pages, wanted)
    servers = guard.servers.every()
    yield from _some((FoundPlace("server", known.name, path_of(known.name)) for known in servers), wanted)
    if me.may(Right.AUDIT):
        agents = guard.granting.callers_json()
        yield from _some((FoundPlace("agent", each["name"], f"/callers/{each['id']}") for each in agents), wanted)
    listed = ((known.name, key) for known in servers for key in sorted(known.pins))
    yield from _some((FoundPlace(key[0].value, key[1], url_of(name, key), name) for name, key in listed), wanted)


def _some(every: Iterable[FoundPlace], wanted: str) -> Iterator[FoundPlace]:
    return islice((each for each in every if wanted in each.name.casefold()), MOST)
