"""`POST /servers/{name}/inspect`: having a server looked at, with the consent that this needs.

What would happen is on the page before anybody agrees to it; the form says which launch that was.
"""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Actor, Decision, NeedsConsent
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.guard.inspecting import Inspected
from mcpguard.web.api.access import may
from mcpguard.web.forms import Form, Told
from mcpguard.web.pages.desk import Desk, Done
from mcpguard.web.pages.one_server import OneServer, path_of
from mcpguard.web.pages.route import PageRoute

MOST: Final = 500


def inspection(guard: Guard, desk: Desk) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    one = OneServer(guard, desk)

    @router.post("/servers/{name}/inspect", dependencies=[may(Right.DECIDE)])
    async def inspect(request: Request, name: str) -> Response:
        consent_needed = False

        async def work(by: Actor, given: Form) -> tuple[str, Done]:
            nonlocal consent_needed
            try:
                done = await guard.inspecting.inspect(
                    name,
                    Decision(by, given.one("why")),
                    consent=given.one("consent") == "yes",
                    give=frozenset(given.every("give")),
                    seen=Fingerprint(given.one("launch")),
                )
            except NeedsConsent:
                consent_needed = True
                raise
            return path_of(name), _done(name, done)

        async def again(given: Form, told: Told) -> Response:
            known = one.find(name)
            if known is None:
                return one.missing(request, name)
            return await one.page(
                request,
                known,
                "review",
                "inspect.html",
                told.status,
                typed={"why": given.one("why"), "give": given.every("give"), "problem": told.sentence},
                consent_needed=consent_needed,
            )

        return await desk.carried_out(request, work, again, most=MOST)

    return router


def _done(name: str, done: Inspected) -> Done:
    if done.error:
        how = "was started and" if done.started else "was not started, and"
        return Done(f"{name} {how} could not be inspected: {done.error}", "medium", f"/servers/{name}/logs", "Its log")
    left = f" {done.left_out} more cannot be offered to anybody." if done.left_out else ""
    counts = f"{done.new} new, {done.changed} changed, {done.gone} gone"
    return Done(f"Inspected {name}: it lists {done.capabilities} capabilities ({counts}).{left}", "person")
