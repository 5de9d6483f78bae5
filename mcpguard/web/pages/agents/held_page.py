"""`/held`: calls that are held for approval, each with everything that it takes to answer it."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.calls.usual_reasons import written_reason
from mcpguard.domain.decisions import Actor, Answer, Decision, Unknown
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.agents.held_cards import card
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.route import PageRoute

NOTHING = SentForm([])
TOLD = "The agent receives your reason."


def held_calls(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    async def shown(
        request: Request, ticket: str = "", given: SentForm = NOTHING, problem: PageProblem = FINE
    ) -> Response:
        """Show all held calls, or one; what was typed stays at the one that was answered."""
        try:
            every = [await guard.held.one_in_context(ticket)] if ticket else await guard.held.every_in_context()
        except Unknown:
            return desk.page(request, "held", "held_gone.html", 404, ticket=ticket)
        cards = [card(call) for call in every]
        return desk.page(
            request,
            "held",
            "held.html",
            problem.status,
            waiting=[each for each in cards if each["state"] == "waiting"],
            answered=[each for each in cards if each["state"] != "waiting"],
            said={
                "why": given.one("why"),
                "reason": given.one("reason"),
                "problem": problem.sentence,
                "ticket": ticket,
            },
            alone=bool(ticket),
        )

    @router.get("/held", dependencies=[may(Right.AUDIT)])
    async def every(request: Request) -> Response:
        return await shown(request)

    @router.get("/held/{ticket}", dependencies=[may(Right.AUDIT)])
    async def one(request: Request, ticket: str) -> Response:
        return await shown(request, ticket)

    @router.post("/held/{ticket}", dependencies=[may(Right.DECIDE)])
    async def answer(request: Request, ticket: str) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            resting = desk.bind_to_page(by, given, lambda: guard.held.tag(ticket))
            allows = given.one("answer") == "allow"
            answered = guard.held.allow if allows else guard.held.deny
            why = written_reason(given.one("reason"), given.one("why"), Answer.ALLOW if allows else Answer.DENY)
            call = await answered(ticket, Decision(resting, why))
            return "/held", _done(call, allows=allows)

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return await shown(request, ticket, given, problem)

        return await desk.carried_out(request, work, again)

    return router


def _done(call: Json, *, allows: bool) -> DoneNotice:
    what = f"{call['server']}:{call['name']} for {call['caller']['name']}"
    sentence, kind = (f"Allowed {what}, once.", "allowed") if allows else (f"Denied {what}. {TOLD}", "blocked")
    return DoneNotice(sentence, kind, f"/calls/{call['id']}", "Show records")
