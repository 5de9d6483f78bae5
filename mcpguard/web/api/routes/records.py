"""Routes of the audit log: records that match a filter, one record with its proof, all records of a call."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse

from mcpguard.codec.cursors import LONGEST, MOST, decode, encode
from mcpguard.codec.filters import LONGEST as LONGEST_FILTER
from mcpguard.codec.filters import misread, parse
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.api.answers import CallRecordsAnswer, RecordsAnswer, WholeRecordAnswer
from mcpguard.web.api.pages import Limit, read
from mcpguard.web.gate.access import may
from mcpguard.web.gate.strict_routes import api_router

After = Annotated[
    str | None,
    Query(max_length=LONGEST, description="Where to continue: the `next` of the previous page, or of an older one."),
]
FilterText = Annotated[
    str,
    Query(
        max_length=LONGEST_FILTER,
        description="A filter, such as `server:files verdict:deny since:2h` (docs/audit.md). Left out: all records.",
    ),
]
Order = Annotated[Literal["oldest", "newest"], Query(description="Which records come first.")]
Seq = Annotated[int, Path(ge=1, lt=MOST, description="The number of a record.")]
CallId = Annotated[str, Path(min_length=1, max_length=64, description="The id of a call.")]


def records(guard: Guard) -> APIRouter:
    router = api_router("records")
    look = [may(Right.AUDIT)]

    @router.get("/records", dependencies=look, response_model=RecordsAnswer)
    async def every(
        q: FilterText = "", order: Order = "oldest", after: After = None, limit: Limit = 100
    ) -> JSONResponse:
        """List the records of the audit log that match a filter.

        A page may have fewer records than the limit, or none, and still have `more` after it. With the oldest first,
        there is always a `next`: sent again later, it returns what was recorded since.
        """
        start, newest = None if after is None else read(after, decode), order == "newest"
        page = await guard.auditing.page(parse(q, guard.clock.now()), start, limit, newest_first=newest)
        following = None if newest and not page.more else encode(page.last)
        shown = {"records": list(page.records), "next": following, "more": page.more, "notices": misread(q)}
        return JSONResponse(shown)

    @router.get("/records/{seq}", dependencies=look, response_model=WholeRecordAnswer)
    async def one(seq: Seq) -> JSONResponse:
        """Get one record, its body, the previous hash, and the first checkpoint that covers it."""
        return JSONResponse(await guard.auditing.record(seq))

    @router.get("/calls/{call}", dependencies=look, response_model=CallRecordsAnswer)
    async def of_call(call: CallId) -> JSONResponse:
        """List all records of a call, with the request and the response, secrets masked."""
        return JSONResponse({"records": await guard.auditing.call(call)})

    return router
