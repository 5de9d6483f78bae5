"""`/settings/tokens`: API tokens, with which programs act for users.

Rule kept here: a token is in the answer to the form that created it and nowhere else; a reload neither shows it nor
creates another.
"""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor, Decision, Undecidable
from mcpguard.domain.people import Right, Role
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base import times
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute

NEW: Final = SentForm([("role", "viewer"), ("expires", times.USUAL)])


def tokens(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    administer = [may(Right.ADMINISTER)]

    def every(request: Request, given: SentForm = NEW, problem: PageProblem = FINE, about: str = "") -> Response:
        return desk.page(
            request,
            "settings",
            "tokens.html",
            problem.status,
            tokens=[*guard.people.tokens()],
            widens=guard.settings.authority.tokens == "full",
            roles=Role,
            times=times.CHOICES,
            once=desk.single_use_forms.new_number(),
            given=given,
            said={"about": about, "problem": problem.sentence},
        )

    @router.get("/settings/tokens", dependencies=administer)
    async def page(request: Request) -> Response:
        return every(request)

    @router.post("/settings/tokens/add", dependencies=administer)
    async def add(request: Request) -> Response:
        async def work(by: Actor, given: SentForm) -> Response:
            if given.one("role") not in {*Role}:
                raise Undecidable("choose a role: viewer, auditor, approver or admin")
            role, until = Role(given.one("role")), times.seconds(given.one("expires"))
            by.check_widening()
            desk.single_use_forms.use(given)
            decision = Decision(by, given.one("why"))
            made, shown = await guard.operators.add(given.one("name").strip(), role, until, decision)
            url = f"{request.url.scheme}://{request.url.netloc}"
            return desk.page(request, "settings", "token_added.html", made=made, shown=shown, url=url)

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return every(request, given, problem, "add")

        return await desk.carried_out(request, work, again)

    @router.post("/settings/tokens", dependencies=administer)
    async def revoke(request: Request) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            token = await guard.operators.revoke(given.one("token"), Decision(by, given.one("why")))
            return "/settings/tokens", DoneNotice(
                f"Revoked {token.name}. The token is rejected from now on.", "blocked"
            )

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return every(request, given, problem, "revoke")

        return await desk.carried_out(request, work, again)

    return router
