"""`/held`: calls that are held for approval, each with everything that it takes to answer it."""

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor, Answer, Decision, Unknown
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.domain.usual_reasons import HeldReason
from mcpguard.guard.calls.holds.allowances import AllowanceWish
from mcpguard.guard.calls.holds.held_calls import allowance_tag
from mcpguard.guard.guard import Guard
from mcpguard.web.forms import FINE, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.agents.held_cards import allowance_row, card
from mcpguard.web.pages.audit.call_page import outcome_of
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.reason_choice import reason_in
from mcpguard.web.pages.base.route import PageRoute

NOTHING = SentForm([])
MOST_FIELDS = 64
"""A call has at most 40 arguments to choose from."""
TOLD = "The agent receives your reason."


def held_calls(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    shown = partial(_shown, guard, desk)

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
            word = given.one("answer")
            allows = word in ("allow", "allow-for")
            why = reason_in(given, HeldReason, Answer.ALLOW if allows else Answer.DENY)
            decision = Decision(resting, why)
            if word == "allow-for":
                wish = AllowanceWish(same=given.every("same"))
                return "/held", _given(await guard.held.allow_for(ticket, decision, wish))
            answered = guard.held.allow if allows else guard.held.deny
            return "/held", _done(await answered(ticket, decision), allows=allows)

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return await shown(request, ticket, given, problem)

        return await desk.carried_out(request, work, again, most=MOST_FIELDS)

    _revoking(router, guard, desk)
    return router


def _revoking(router: APIRouter, guard: Guard, desk: Console) -> None:
    """Add the form that revokes an allowance."""

    @router.post("/allowances/{allowance}", dependencies=[may(Right.DECIDE)])
    async def revoke(request: Request, allowance: str) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
            resting = desk.bind_to_page(by, given, lambda: allowance_tag(guard.held.allowance(allowance)))
            ended = await guard.held.revoke_allowance(allowance, Decision(resting, given.one("why")))
            what = f"{ended['server']}:{ended['name']} for {ended['caller']['name']}"
            return "/held", DoneNotice(f"Revoked. Calls of {what} are held again.", "blocked")

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return await _shown(guard, desk, request, "", given, problem, allowance)

        return await desk.carried_out(request, work, again)


async def _shown(
    guard: Guard,
    desk: Console,
    request: Request,
    ticket: str = "",
    given: SentForm = NOTHING,
    problem: PageProblem = FINE,
    about: str = "",
) -> Response:
    """Show all held calls and allowances, or one call; what was typed stays at the one that was answered, or at the
    allowance that is `about`."""
    try:
        every = [await guard.held.one_in_context(ticket)] if ticket else await guard.held.every_in_context()
    except Unknown:
        outcome = await outcome_of(guard, ticket)
        return desk.page(request, "held", "held_gone.html", 404, ticket=ticket, outcome=outcome)
    cards = [card(call) for call in every]
    allowances = [] if ticket else [allowance_row(each) for each in guard.held.allowances()]
    return desk.page(
        request,
        "held",
        "held.html",
        problem.status,
        allowances=allowances,
        # What was to be revoked may have ended.
        missed=problem.sentence if about and about not in [each["id"] for each in allowances] else "",
        waiting=[each for each in cards if each["state"] == "waiting"],
        answered=[each for each in cards if each["state"] != "waiting"],
        said={
            "why": given.one("why"),
            "reason": given.one("reason"),
            "same": given.every("same"),
            "problem": problem.sentence,
            "ticket": ticket or about,
        },
        alone=bool(ticket),
    )


def _given(allowance: Json) -> DoneNotice:
    what = f"{allowance['server']}:{allowance['name']} for {allowance['caller']['name']}"
    sentence = f"Allowed {what}, and at most {allowance['left']} calls like it in the next 10 minutes."
    return DoneNotice(sentence, "allowed", f"/calls/{allowance['ticket']}", "Show records")


def _done(call: Json, *, allows: bool) -> DoneNotice:
    what = f"{call['server']}:{call['name']} for {call['caller']['name']}"
    sentence, kind = (f"Allowed {what}, once.", "allowed") if allows else (f"Denied {what}. {TOLD}", "blocked")
    return DoneNotice(sentence, kind, f"/calls/{call['id']}", "Show records")
