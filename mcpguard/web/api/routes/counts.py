"""Routes of the counts of calls: over time, and of every server in a day."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from mcpguard.codec.filters import LONGEST as LONGEST_FILTER
from mcpguard.codec.filters import parse_strictly
from mcpguard.domain.people import Right
from mcpguard.guard.audit.count_filters import count_filter, count_span
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import DayOfServersAnswer, SpanNumbersAnswer
from mcpguard.web.gate.access import may
from mcpguard.web.gate.strict_routes import api_router

CountedFilter = Annotated[
    str,
    Query(
        max_length=LONGEST_FILTER,
        description="A filter, such as `server:files since:7d` (docs/audit.md). Left out: all calls of a day.",
    ),
]


def counts(guard: Guard) -> APIRouter:
    router = api_router("counts")
    look = [may(Right.AUDIT)]

    @router.get("/counts", dependencies=look, response_model=SpanNumbersAnswer)
    async def of_span(q: CountedFilter = "") -> JSONResponse:
        """Get the number of calls over time, by verdict, outcome, tool, caller and reason, and how long they took.

        The keys of the filter are `server`, `tool` or `prompt`, `caller`, `effect`, `verdict`, `outcome` and `reason`,
        each with one value, and `since` and `until`; without `since`, the span is a day. Times are rounded to whole
        slots.
        """
        now = guard.clock.now()
        wanted = parse_strictly(q, now)
        found = await guard.call_numbers.span(*count_span(wanted, now), count_filter(wanted, caller_id))
        return JSONResponse(asdict(found))

    @router.get("/counts/servers", dependencies=look, response_model=DayOfServersAnswer)
    async def of_servers() -> JSONResponse:
        """Get the number of calls of every server, by hour, in this hour and the 23 before it."""
        return JSONResponse(asdict(await guard.call_numbers.servers()))

    def caller_id(named: str) -> str:
        known = guard.callers.find_by_label(named)
        return named if known is None else known.caller.id

    return router
