"""`/audit/verify`: verifying the whole audit log, its progress, and its result."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute


def verifying(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    def shown(request: Request, problem: PageProblem = FINE) -> Response:
        depth, last = guard.depth(), guard.verifying.last
        return desk.page(
            request,
            "audit",
            "verify.html",
            problem.status,
            depth=depth,
            last=last,
            verifying=guard.verifying.now,
            newer_than_proven=max(0, depth.records - last.to) if last else 0,
            problem=problem.sentence,
        )

    @router.get("/audit/verify", dependencies=[may(Right.AUDIT)])
    async def look(request: Request) -> Response:
        return shown(request)

    @router.post("/audit/verify", dependencies=[may(Right.AUDIT)])
    async def begin(request: Request) -> Response:
        async def work(by: Actor, _: SentForm) -> tuple[str, DoneNotice]:
            by.check()
            begun = guard.verifying.begin(by.id)
            sentence = "Verification started." if begun else "Verification is already in progress."
            return "/audit/verify", DoneNotice(sentence, "pending")

        async def again(_: SentForm, problem: PageProblem) -> Response:
            return shown(request, problem)

        return await desk.carried_out(request, work, again)

    return router
