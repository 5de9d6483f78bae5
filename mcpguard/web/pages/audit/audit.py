"""`/audit`: the records that match a filter, newest first, and a histogram of them.

Rules kept here:
1. The whole query is in the URL: everybody who has the URL sees the same, and nothing is stored.
2. A wrong filter is reported at its field, which keeps what was typed; nothing is searched then.
3. `/audit/rows` returns only rows of the same page, for what comes while somebody looks.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.codec.canonical import LARGEST
from mcpguard.codec.filters import parse, split_terms
from mcpguard.domain.filters import BadFilter, Filter
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import page_problem
from mcpguard.web.gate.access import may
from mcpguard.web.pages.audit.drawing import drawing, ends
from mcpguard.web.pages.audit.record_rows import moment, row
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.route import PageRoute

PAGE: Final = 100
KEYS: Final = ("server", "tool", "caller", "actor", "verdict", "outcome", "effect", "reason", "kind", "since", "until")
"""Those that are offered."""
VERDICTS: Final = ("allow", "hold", "deny")
DAY: Final = 86_400_000_000
Terms = list[tuple[str, str]]
"""The key of each, and how it is written."""
NOTHING: Final[Json] = {
    "rows": [],
    "older": None,
    "newer": None,
    "top": 0,
    "first": False,
    "drawn": None,
    "counted": None,
}


def audit(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    look = [may(Right.AUDIT)]

    @router.get("/audit", dependencies=look)
    async def page(request: Request) -> Response:
        q, now = request.query_params.get("q", ""), guard.clock.now()
        add = request.query_params.get("add", "")
        typed = f"{q.strip()} {add}:".lstrip() if add in KEYS else q
        try:
            wanted = parse(q, now)
        except BadFilter as error:
            said = page_problem(error)
            shown = NOTHING | _around(guard, q, typed, [], now) | {"problem": said.sentence}
            return desk.page(request, "audit", "audit.html", said.status, **shown)
        counted = await guard.auditing.histogram(wanted)
        drawn = drawing(counted) if counted.bars and None not in map(moment, ends(counted)) else None
        shown = await _found(guard, request, wanted) | _around(guard, q, typed, [*split_terms(q)], now)
        return desk.page(request, "audit", "audit.html", **shown, problem="", drawn=drawn, counted=counted)

    @router.get("/audit/rows", dependencies=look)
    async def rows(request: Request) -> Response:
        """Return the rows that are newer than a record number. Raises BadFilter."""
        wanted = parse(request.query_params.get("q", ""), guard.clock.now())
        seq = number(request, "newer") or 0
        page = await guard.auditing.page(wanted, seq, PAGE)
        return desk.bare(
            "audit_rows.html",
            rows=[row(each) for each in reversed(page.records)],
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
        page = await guard.auditing.page(wanted, newer, PAGE)
        rows, top = [row(each) for each in reversed(page.records)], max(newer, page.last)
        return {"rows": rows, "older": newer + 1, "newer": top if page.more else None, "top": top, "first": False}
    known = guard.depth().records
    page = await guard.auditing.page(wanted, after, PAGE, newest_first=True)
    rows = [row(each) for each in page.records]
    top = max(known, rows[0].seq if rows else 0)
    newer = None if after is None else rows[0].seq if rows else after - 1
    older = page.last if page.more else None
    return {"rows": rows, "older": older, "newer": newer, "top": top, "first": after is None}


def number(request: Request, name: str) -> int | None:
    """Return the record number in the query; None for anything else."""
    given = request.query_params.get(name, "")
    found = int(given) if re.fullmatch("[0-9]{1,16}", given) else None
    return None if found is None or found > LARGEST else found


def address(path: str, **query: object) -> str:
    """Return a URL of ours with the non-empty parts of the query."""
    given = {name: value for name, value in query.items() if value is not None and value != ""}
    return f"{path}?{urlencode(given)}" if given else path


def _around(guard: Guard, q: str, typed: str, terms: Terms, now: int) -> Json:
    """Return what surrounds the rows: the filter, what can be added to it, and what would match more."""
    depth, last = guard.depth(), guard.verifying.last
    return {
        "q": q,
        "typed": typed,
        "adds": [(key, address("/audit", q=q, add=key)) for key in KEYS],
        "ranges": [*_ranges(terms, now, q)],
        "drops": [(key, _query(term for term in terms if term[0] != key)) for key in dict(terms)],
        "also": {word: _query([*_but(terms, "verdict"), ("", f"verdict:{word}")]) for word in VERDICTS},
        "depth": depth,
        "last": last,
        "verifying": guard.verifying.now,
        "newer_than_proven": max(0, depth.records - last.to) if last else 0,
        "export": address("/audit/export", q=q),
        "rows_at": address("/audit/rows", q=q),
        "here": address("/audit", q=q),
        "at": lambda **query: address("/audit", q=q, **query),
    }


def _ranges(terms: Terms, now: int, q: str) -> Iterator[tuple[str, str, bool]]:
    today = datetime.fromtimestamp(now // DAY * DAY // 1_000_000, UTC).date().isoformat()
    rest = _but(terms, "since", "until")
    for said, since in (("last hour", "1h"), ("today", today), ("7 days", "7d"), ("all", "")):
        also = [*rest, ("since", f"since:{since}")] if since else rest
        yield said, _query(also), " ".join(q.split()) == _text(also)


def _but(terms: Terms, *keys: str) -> Terms:
    return [term for term in terms if term[0].removeprefix("-") not in keys]


def _query(terms: Iterable[tuple[str, str]]) -> str:
    return address("/audit", q=_text(terms))


def _text(terms: Iterable[tuple[str, str]]) -> str:
    return " ".join(written for _, written in terms)
