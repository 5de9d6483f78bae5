"""`/`: what waits for a person, the most urgent first, and how the guard is."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.api.access import may
from mcpguard.web.pages.desk import Desk, principal
from mcpguard.web.pages.route import PageRoute

MOST = 50
"""Of each sort that is shown; the rest has pages of its own."""


def inbox(guard: Guard, desk: Desk) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    @router.get("/", dependencies=[may(Right.LOOK)])
    async def page(request: Request) -> Response:
        audits = principal(request).may(Right.AUDIT)
        calls = [call for call in await guard.held.every() if call["state"] == "waiting"] if audits else []
        waiting = guard.inbox.every()
        review = [each for each in waiting if not each.reviewed]
        moved = [(each, pin) for each in waiting if each.reviewed for pin in each.pins]
        status = guard.status()
        unwell = [each for each in status.servers if each.standing == "approved" and each.enabled and each.error]
        running = sum(each.standing == "approved" and each.enabled for each in status.servers)
        return desk.page(
            request,
            "inbox",
            "inbox.html",
            calls=calls[:MOST],
            review=review[:MOST],
            moved=moved[:MOST],
            left_out=max(0, len(review) - MOST) + max(0, len(moved) - MOST),
            waits=len(calls) + len(review) + len(moved),
            status=status,
            unwell=unwell,
            running=running,
        )

    return router
