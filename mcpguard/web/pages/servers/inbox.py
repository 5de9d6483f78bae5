"""`/`: what needs review, the most urgent first, and the status of the guard."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import SERVER_ITSELF
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.inbox import UnreadApproval
from mcpguard.guard.servers.registry import ServerState
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, principal
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.capability import url_of
from mcpguard.web.pages.servers.one_server import path_of

MOST = 50
"""Of each sort that is shown; the rest has pages of its own."""


def inbox(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    @router.get("/", dependencies=[may(Right.LOOK)])
    async def page(request: Request) -> Response:
        audits = principal(request).may(Right.AUDIT)
        calls = [call for call in await guard.held.every() if call["state"] == "waiting"] if audits else []
        waiting = guard.inbox.every()
        review = [each for each in waiting if not each.reviewed]
        moved = [(each, pin) for each in waiting if each.reviewed for pin in each.pins]
        unread = [(each.known, left) for each in waiting for left in each.unread]
        added = await guard.queries.additions.by_pin((each.known, pin) for each, pin in moved[:MOST])
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
            added=added,
            unread=[_unread(*each) for each in unread[:MOST]],
            left_out=sum(max(0, len(each) - MOST) for each in (review, moved, unread)),
            waits=len(calls) + len(review) + len(moved) + len(unread),
            status=status,
            unwell=unwell,
            running=running,
        )

    return router


def _unread(known: ServerState, left: UnreadApproval) -> dict[str, Any]:
    key = left.key
    return {
        "server": known.name,
        "kind": key[0].value if key else SERVER_ITSELF,
        "name": key[1] if key else "",
        "url": url_of(known.name, key) if key else path_of(known.name),
        "rules": sorted(left.rules),
        "severities": left.severities,
    }
