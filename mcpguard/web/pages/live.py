"""`/live`: what changed since a page was made, as one stream of events for each tab.

Rules kept here:
1. An event has numbers and nothing else: what they stand for, a page asks for as its reader.
2. Whoever may no longer look is told nothing more, from that moment on.
3. It is looked at in memory, a few times a second; a browser that comes back says which record it knew last, and is
   told at once how many there are now.
"""

from collections.abc import AsyncIterator
from typing import Final

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from mcpguard.domain.people import Principal, Right
from mcpguard.guard.guard import Guard
from mcpguard.web.api.access import may
from mcpguard.web.pages.desk import Desk, principal
from mcpguard.web.pages.rail import counted
from mcpguard.web.pages.route import PageRoute

EVERY: Final = 0.25
QUIET: Final = 15.0
"""Seconds after which something is said even if nothing changed: else whoever stands between ends the stream."""
MOST: Final = 200
"""Streams at once."""


def live(guard: Guard, _: Desk) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    open_ = 0

    async def told(me: Principal) -> AsyncIterator[bytes]:
        nonlocal open_
        open_ += 1
        try:
            before, quiet = b"", 0.0
            yield b"retry: 2000\n\n"
            while guard.people.holds(me):
                now = event(guard, me)
                if now != before or quiet >= QUIET:
                    before, quiet = now, 0.0
                    yield now
                await guard.clock.sleep(EVERY)
                quiet += EVERY
            yield b"event: over\ndata: {}\n\n"
        finally:
            open_ -= 1

    @router.get("/live", dependencies=[may(Right.LOOK)])
    async def stream(request: Request) -> Response:
        if open_ >= MOST:
            return Response(status_code=503, headers={"retry-after": "5"})
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(told(principal(request)), headers=headers, media_type="text/event-stream")

    return router


def event(guard: Guard, me: Principal) -> bytes:
    """How it is now, for one reader."""
    said = {"counts": counted(guard, me), "ready": guard.readiness().ready}
    number = guard.depth().records if me.may(Right.AUDIT) else 0
    return b"id: %d\nevent: now\ndata: %s\n\n" % (number, orjson.dumps(said | {"records": number}))
