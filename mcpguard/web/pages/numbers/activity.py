"""`/servers/{name}/activity`: what an approved server was called for, by whom, how fast, and what went wrong lately."""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.calls.counted_calls import CountFilter
from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.inbox import severities
from mcpguard.web.gate.access import may
from mcpguard.web.pages.audit.record_rows import ShownRecord, row
from mcpguard.web.pages.base.console import Console
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.numbers.overview import callers_of, denials_of, numbers_shown, tools_of
from mcpguard.web.pages.numbers.time_range import RANGES, TimeRange
from mcpguard.web.pages.servers.one_server import OneServer

LAST: Final = 5
"""How many of the last denials and failures are shown."""


def activity(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    one = OneServer(guard, desk)

    @router.get("/servers/{name}/activity", dependencies=[may(Right.AUDIT)])
    async def page(request: Request, name: str) -> Response:
        if (known := one.find(name)) is None:
            return one.missing(request, name)
        shown, terms = TimeRange.from_request(request, guard.clock.now()), f"server:{name}"
        numbers = await guard.call_numbers.span(shown.since, shown.until, CountFilter(server=name))
        return await one.page(
            request,
            known,
            "activity",
            "activity.html",
            shown=shown,
            ranges=RANGES,
            at=f"/servers/{name}/activity",
            findings=severities([found for _, found in known.findings_by_part()]),
            **numbers_shown(numbers, terms),
            tools=tools_of(numbers, terms, with_server=False),
            callers=callers_of(guard, numbers, terms),
            denials=denials_of(numbers, terms),
            denied=await _last(guard, name, (FilterKey.VERDICT, Deny.word), RecordKind.OPENED),
            failed=await _last(guard, name, (FilterKey.OUTCOME, OutcomeKind.FAILED.value), RecordKind.CLOSED),
        )

    return router


async def _last(guard: Guard, name: str, of: tuple[FilterKey, str], kind: RecordKind) -> list[tuple[ShownRecord, str]]:
    """Return the newest such records of calls of a server, each with the id of its call; none if the log cannot be
    read now.
    """
    key, value = of
    terms = (FilterKey.SERVER, name), (key, value), (FilterKey.KIND, kind.value)
    wanted = Filter(tuple(FilterTerm(one, (said,)) for one, said in terms))
    try:
        page = await guard.auditing.page(wanted, None, LAST, newest_first=True)
    except StoreUnavailable:
        return []
    return [(row(each), str(each["content"]["entry"])) for each in page.records if each["content"]]
