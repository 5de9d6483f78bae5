"""The audit log, record after record."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from mcpguard.codec.cursors import LONGEST, decode, encode
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.api.access import may
from mcpguard.web.api.answers import Records
from mcpguard.web.api.pages import Limit, read
from mcpguard.web.api.strictly import StrictRoute

After = Annotated[
    str | None, Query(max_length=LONGEST, description="Where to go on: `next` of the page before, or an older one.")
]


def records(guard: Guard) -> APIRouter:
    router = APIRouter(prefix="/records", tags=["records"], route_class=StrictRoute)

    @router.get("", dependencies=[may(Right.AUDIT)], response_model=Records)
    async def every(after: After = None, limit: Limit = 100) -> JSONResponse:
        """Records of the audit log, the oldest first.

        `next` is always there: asked with it again, what was recorded since follows.
        """
        page = await guard.auditing.page(0 if after is None else read(after, decode), limit)
        return JSONResponse({"records": list(page.records), "next": encode(page.last), "more": page.more})

    return router
