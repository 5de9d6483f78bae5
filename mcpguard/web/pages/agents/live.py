"""`/live`: what changed since a page was made, as one stream of events for each tab.

Rules kept here:
1. An event has only numbers: a page requests what they stand for with its reader's rights.
2. A reader who loses the right to look is sent nothing more from that moment on.
3. Changes are looked up in memory, a few times a second. A browser that reconnects names the last record that it knew,
   and is told at once how many there are now.
4. One person's streams are at most half of that person's places, and all streams at most half of all places: open tabs
   keep nobody from the pages.
"""

from collections.abc import AsyncIterator
from typing import Final

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from mcpguard.domain.people import Principal, Right
from mcpguard.guard.guard import Guard
from mcpguard.policy.shares import Crowded, Shares
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, principal
from mcpguard.web.pages.base.rail import rail_counts
from mcpguard.web.pages.base.route import PageRoute

EVERY: Final = 0.25
QUIET: Final = 15.0
"""Seconds after which something is said even if nothing changed: else whoever stands between ends the stream."""


def live(guard: Guard, _: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    limits = guard.settings.limits
    shares = Shares(limits.of_person // 2, limits.of_people // 2)

    async def told(me: Principal) -> AsyncIterator[bytes]:
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

    @router.get("/live", dependencies=[may(Right.LOOK)])
    async def stream(request: Request) -> Response:
        me = principal(request)
        return _Stream(told(me), shares, me.id)

    return router


class _Stream(StreamingResponse):
    """A stream that holds a place while it is sent, and is refused without one."""

    def __init__(self, told: AsyncIterator[bytes], shares: Shares, who: str) -> None:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        super().__init__(told, headers=headers, media_type="text/event-stream")
        self._shares = shares
        self._who = who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            place = self._shares.take(self._who)
        except Crowded:
            await Response(status_code=503, headers={"retry-after": "5"})(scope, receive, send)
            return
        with place:
            await super().__call__(scope, receive, send)


def event(guard: Guard, me: Principal) -> bytes:
    """Return the numbers of this moment for one reader."""
    said = {"counts": rail_counts(guard, me), "ready": guard.readiness().ready}
    number = guard.depth().records if me.may(Right.AUDIT) else 0
    return b"id: %d\nevent: now\ndata: %s\n\n" % (number, orjson.dumps(said | {"records": number}))
