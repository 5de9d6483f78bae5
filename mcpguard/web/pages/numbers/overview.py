"""`/overview`: what needs a person, and what became of the calls of all servers in a span of time.

Every number is a link into the audit log. The numbers are counted (`guard/audit/call_counter.py`), not proven.
"""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.domain.filters import Filter
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.guard.audit.call_sums import DayOfServers, SpanNumbers
from mcpguard.guard.guard import Guard
from mcpguard.guard.traffic.counts import own_quantile
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.numbers.charts import (
    RankedRow,
    call_shares,
    calls_drawing,
    change,
    counted_histogram,
    in_milliseconds,
    in_short,
    latency_chart,
    log_at,
    part_links,
    ranked_rows,
)
from mcpguard.web.pages.numbers.time_range import RANGES, TimeRange

SOON: Final = 7 * 24 * 3600 * 1_000_000
"""Microseconds before its end from which on a token needs somebody."""
MOST: Final = 8
"""Rows of each list of the most frequent."""


def overview(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    @router.get("/overview", dependencies=[may(Right.AUDIT)])
    async def page(request: Request) -> Response:
        shown = TimeRange.from_request(request, guard.clock.now())
        around = {"shown": shown, "ranges": RANGES, "here": "/overview", "needs": await _needs(guard)}
        try:
            numbers = await guard.call_numbers.span(shown.since, shown.until)
            day = await guard.call_numbers.servers()
        except StoreUnavailable:
            return desk.page(request, "overview", "overview.html", 503, **around, numbers=None)
        used = guard.searching.context_use
        return desk.page(
            request,
            "overview",
            "overview.html",
            **around,
            **numbers_shown(numbers, ""),
            overhead=[own_quantile(guard.counting.own.values(), share) for share in (0.95, 0.5)],
            saved=in_short(used.tokens_saved) if used.tokens_saved else "",
            share_saved=round(100 * used.share_saved),
            tools=tools_of(numbers, "", with_server=True),
            callers=callers_of(guard, numbers, ""),
            denials=denials_of(numbers, ""),
            servers=_servers(day),
        )

    return router


def numbers_shown(numbers: SpanNumbers, terms: str) -> Json:
    """Return what the overview and the page of a server show alike. `terms`: what the links into the log say besides
    the span.
    """
    found, counted = call_shares(numbers.sums), counted_histogram(numbers)
    before = call_shares(numbers.before) if numbers.before else None
    return {
        "numbers": numbers,
        "found": found,
        "before": before,
        "took": {name: in_milliseconds(getattr(numbers.took, name)) for name in ("p50", "p95")},
        "took_before": {
            name: in_milliseconds(getattr(numbers.before_took, name)) if numbers.before_took else ""
            for name in ("p50", "p95")
        },
        "calls_were": change(found.calls, before.calls if before else None),
        "counted": counted,
        "drawn": calls_drawing(counted, terms),
        "latency_of": latency_chart(numbers),
        "also": part_links(terms, numbers.since, numbers.until),
        "all_calls": log_at(terms, Filter((), numbers.since, numbers.until)),
    }


def tools_of(numbers: SpanNumbers, terms: str, *, with_server: bool) -> tuple[RankedRow, ...]:
    """Return the tools that were called most."""
    span = Filter((), numbers.since, numbers.until)
    return ranked_rows(
        (
            f"{each.server}:{each.name}" if with_server else each.name,
            each.calls,
            log_at(f'server:{each.server} name:"{_quoted(each.name)}"' if _can_ask(each.name) else terms, span),
            f"{each.failed:,} failed" if each.failed else "",
        )
        for each in numbers.tools[:MOST]
    )


def callers_of(guard: Guard, numbers: SpanNumbers, terms: str) -> tuple[RankedRow, ...]:
    """Return the agents that called most, by their names."""
    span = Filter((), numbers.since, numbers.until)
    return ranked_rows(
        (
            known[0].caller.label if (known := guard.callers.find(each.caller)) else each.caller,
            each.calls,
            log_at(f"{terms} caller:{each.caller}", span),
            f"{each.refused:,} denied" if each.refused else "",
        )
        for each in numbers.callers[:MOST]
    )


def denials_of(numbers: SpanNumbers, terms: str) -> tuple[RankedRow, ...]:
    """Return why calls were denied, the most frequent first."""
    span = Filter((), numbers.since, numbers.until)
    reasons = [each for each in numbers.refused.items() if each[0]][:MOST]
    return ranked_rows((reason, number, log_at(f"{terms} reason:{reason}", span), "") for reason, number in reasons)


def _servers(day: DayOfServers) -> tuple[RankedRow, ...]:
    found = ranked_rows(
        (name, its.calls, f"/servers/{name}/activity", f"{its.failed:,} failed" if its.failed else "")
        for name, its in day.servers.items()
    )
    return found[:MOST]


async def _needs(guard: Guard) -> Json:
    """Return what waits for a person: held calls, changed capabilities, servers to review, tokens to renew."""
    held = [call for call in await guard.held.every() if call["state"] == "waiting"]
    waiting = guard.inbox.every()
    new = [each.known.declared.since for each in waiting if not each.reviewed]
    expiring = guard.callers.expiring(SOON)
    return {
        "held": len(held),
        "first": min((call["until"] for call in held), default=None),
        "changed": sum(len(each.pins) for each in waiting if each.reviewed),
        "review": len(new),
        "oldest": min((since for since in new if since is not None), default=None),
        "expiring": len(expiring),
        "first_to_expire": min(expiring, default=None),
        "unread": sum(len(each.unread) for each in waiting),
    }


def _can_ask(name: str) -> bool:
    return name.isprintable() and "*" not in name and "?" not in name


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
