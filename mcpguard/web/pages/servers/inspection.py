"""`POST /servers/{name}/inspect`: inspecting a server, with the consent that this needs; and
`/servers/{name}/inspection`: its progress.

What would happen is on the page before anybody consents; the form names the launch. The request is answered as soon as
the inspection has begun, which may take minutes.
"""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Actor, Decision, NeedsConsent
from mcpguard.domain.people import Right
from mcpguard.domain.servers.inspections import InspectionStage
from mcpguard.domain.servers.launches import StdioLaunch
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.inspection import InspectionResult
from mcpguard.guard.servers.registry import ServerState
from mcpguard.web.forms import PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice, redirect
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.one_server import OneServer, path_of

MOST: Final = 500


def inspection(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    one = OneServer(guard, desk)

    @router.post("/servers/{name}/inspect", dependencies=[may(Right.DECIDE)])
    async def inspect(request: Request, name: str) -> Response:
        consent_needed = False

        async def work(by: Actor, given: SentForm) -> Response:
            nonlocal consent_needed
            try:
                await guard.inspecting.begin(
                    name,
                    Decision(by, given.one("why")),
                    consent=given.one("consent") == "yes",
                    give=frozenset(given.every("give")),
                    seen=Fingerprint(given.one("launch")),
                    told=lambda done: desk.tell(request, _done(name, done)),
                )
            except NeedsConsent:
                consent_needed = True
                raise
            return redirect(f"/servers/{name}/inspection")

        async def again(given: SentForm, problem: PageProblem) -> Response:
            known = one.find(name)
            if known is None:
                return one.missing(request, name)
            return await one.page(
                request,
                known,
                "review",
                "inspect.html",
                problem.status,
                typed={"why": given.one("why"), "give": given.every("give"), "problem": problem.sentence},
                consent_needed=consent_needed,
            )

        return await desk.carried_out(request, work, again, most=MOST)

    @router.get("/servers/{name}/inspection", dependencies=[may(Right.LOOK)])
    async def how_far(request: Request, name: str) -> Response:
        known = one.find(name)
        if known is None:
            return one.missing(request, name)
        if known.stage is None:
            return redirect(path_of(name))
        return await one.page(
            request,
            known,
            "review",
            "inspecting.html",
            leads_on=True,
            inspection=known.upstream.inspection,
            stages=_stages(known),
            stage=known.stage,
        )

    return router


def _stages(known: ServerState) -> list[InspectionStage]:
    """Return the stages of an inspection of this server."""
    if known.runs:
        return [InspectionStage.LISTING]
    fetches = isinstance(known.declared.launch, StdioLaunch)
    return [each for each in InspectionStage if fetches or each is not InspectionStage.INSTALLING]


def _done(name: str, done: InspectionResult) -> DoneNotice:
    if done.error:
        how = "was started but" if done.started else "was not started and"
        return DoneNotice(
            f"{name} {how} could not be inspected: {done.error}", "medium", f"/servers/{name}/logs", "Show log"
        )
    left = f" {done.left_out} more cannot be offered to agents." if done.left_out else ""
    counts = f"{done.new} new, {done.changed} changed, {done.gone} gone"
    return DoneNotice(f"Inspected {name}: {done.capabilities} capabilities ({counts}).{left}", "person")
