"""`/audit`: the calls and other records that match a query, newest first, with a histogram and facets.

Rules kept here:
1. The whole query is in the URL: everybody who has the URL sees the same, and nothing is stored.
2. There is always a list. What looks like a term and is none is searched as text, and the page says so; a query that
   cannot be read is reported at its field, which keeps what was typed, above all records.
3. `/audit/rows` returns only rows of the same page, for what comes while somebody looks.
"""

import re
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.codec.canonical import LARGEST
from mcpguard.codec.filters import misread, parse
from mcpguard.domain.filters import ALL_RECORDS, BadFilter, Filter
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.guard.audit.histogram import Histogram
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, page_problem
from mcpguard.web.gate.access import may
from mcpguard.web.pages.audit.drawing import drawing, ends
from mcpguard.web.pages.audit.facets import facet_groups, part_links
from mcpguard.web.pages.audit.log_queries import LogQuery, address
from mcpguard.web.pages.audit.log_rows import log_row
from mcpguard.web.pages.audit.record_rows import moment
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.route import PageRoute

PAGE: Final = 50
KEYS: Final = ("server", "tool", "caller", "actor", "verdict", "outcome", "effect", "reason", "kind", "since", "until")
"""Those that are offered."""


def audit(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    look = [may(Right.AUDIT)]

    @router.get("/audit", dependencies=look)
    async def page(request: Request) -> Response:
        query, now = LogQuery.from_text(request.query_params.get("q", "")), guard.clock.now()
        wanted, problem, misunderstood = ALL_RECORDS, FINE, list[str]()
        try:
            wanted = parse(query.text, now)
            misunderstood = misread(query.text)
        except BadFilter as error:
            problem = page_problem(error)
        counted = await guard.auditing.histogram(wanted)
        shown = await _found(guard, request, wanted)
        shown |= _around(guard, request, query, problem) | _counted(query, counted) | {"misread": misunderstood}
        shown |= {"zoomed_out": query.zoom_out_link(wanted, now), "wanted": wanted, "page_size": PAGE}
        return desk.page(request, "audit", "audit.html", problem.status, **shown)

    @router.get("/audit/rows", dependencies=look)
    async def rows(request: Request) -> Response:
        """Return the rows that are newer than a record number, and those of earlier calls that went on. Raises
        BadFilter."""
        wanted = parse(request.query_params.get("q", ""), guard.clock.now())
        seq = number(request, "newer") or 0
        page = await guard.auditing.calls(wanted, seq, PAGE, newest_first=False)
        return desk.bare(
            "audit_rows.html",
            rows=[log_row(each) for each in reversed(page.rows)],
            went_on=[log_row(each) for each in page.went_on],
            top=max(seq, page.last),
            more=page.more,
            now=guard.clock.now(),
        )

    return router


async def _found(guard: Guard, request: Request, wanted: Filter) -> Json:
    """Return the rows of a page: below a record number, or those `newer` than one, which are searched upwards.

    `older` and `newer` are where to continue, if anywhere; `first` tells whether no page is newer; `top` is the newest
    record number, above which nothing is on the page.
    """
    after, newer = number(request, "after"), number(request, "newer")
    if newer is not None:
        page = await guard.auditing.calls(wanted, newer, PAGE, newest_first=False)
        rows, top = [log_row(each) for each in reversed(page.rows)], max(newer, page.last)
        return {"rows": rows, "older": newer + 1, "newer": top if page.more else None, "top": top, "first": False}
    known = guard.depth().records
    page = await guard.auditing.calls(wanted, after, PAGE)
    rows = [log_row(each) for each in page.rows]
    top = max(known, rows[0].seq if rows else 0)
    newer = None if after is None else rows[0].seq if rows else after - 1
    older = page.last if page.more else None
    return {"rows": rows, "older": older, "newer": newer, "top": top, "first": after is None}


def number(request: Request, name: str) -> int | None:
    """Return the record number in the query; None for anything else."""
    given = request.query_params.get(name, "")
    found = int(given) if re.fullmatch("[0-9]{1,16}", given) else None
    return None if found is None or found > LARGEST else found


def _counted(query: LogQuery, counted: Histogram) -> Json:
    """Return the histogram and the facets."""
    drawable = bool(counted.bars) and None not in map(moment, ends(counted))
    return {
        "counted": counted,
        "drawn": drawing(counted, query.span_link) if drawable else None,
        "facets": [*facet_groups(query, counted.terms)],
        "also": part_links(query, counted.terms),
    }


def _around(guard: Guard, request: Request, query: LogQuery, problem: PageProblem) -> Json:
    """Return what surrounds the rows: the query, what can be added to it, and what would match more."""
    depth, last, typed = guard.depth(), guard.verifying.last, query.text
    q = "" if problem.sentence else typed
    add = request.query_params.get("add", "")
    return {
        "q": typed,
        "typed": f"{typed.strip()} {add}:".lstrip() if add in KEYS else typed,
        "problem": problem.sentence,
        "adds": [(key, address("/audit", q=typed, add=key)) for key in KEYS],
        "ranges": [*query.ranges()],
        "drops": query.drops(),
        "depth": depth,
        "last": last,
        "verifying": guard.verifying.now,
        "newer_than_proven": max(0, depth.records - last.to) if last else 0,
        "export": address("/audit/export", q=q),
        "rows_at": address("/audit/rows", q=q),
        "here": address("/audit", q=q),
        "at": lambda **more: address("/audit", q=q, **more),
    }
