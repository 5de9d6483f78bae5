"""`/servers/{name}`: what will run, its texts and effects, and the decision about it.

Rules kept here:
1. A decision is about exactly what the page showed: an approval about the definitions that it names, any other about
   the tag. If something else is current, nothing happens, and the changes are shown with all that was typed.
2. Nothing is chosen beforehand where there is a hard or critical finding, and nothing that has findings.
3. What a server may request and read besides stays unchanged here. Its sandbox stays too unless it is chosen here: what
   the server probably needs is shown, not chosen.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.decisions import Actor, Answer, Approval, Decision, Stale, Undecidable
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.domain.usual_reasons import ReviewReason
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.confirmations import findings_to_confirm
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.review_advice import advise
from mcpguard.text.visible import visible
from mcpguard.web.forms import FINE, Misshapen, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice
from mcpguard.web.pages.base.reason_choice import reason_in, review_reasons
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.choices import (
    confinement_of,
    effects,
    read_choice,
    read_of,
    rows,
    write_seen,
    written_out,
)
from mcpguard.web.pages.servers.one_server import OneServer, path_of
from mcpguard.web.pages.servers.review_cards import review_page

LARGEST: Final = 4 * 1024 * 1024
MOST: Final = 20_000
NOTHING: Final = SentForm([])
CLEAN: Final = "clean"
CHOOSE: Final = "Select at least one capability, or keep the server in quarantine"
_DONE: Final = {
    Answer.BLOCK: ("Blocked {}. It never starts.", "blocked"),
    Answer.REJECT: ("Kept {} in quarantine. It returns to the inbox when it changes.", "quarantined"),
    Answer.QUARANTINE: ("Quarantined {}. It does not run, and calls are denied.", "quarantined"),
    Answer.DISABLE: ("Disabled {}. Calls are denied.", "disabled"),
    Answer.ENABLE: ("Enabled {}.", "approved"),
}

ANSWERS: Final[Mapping[str, Answer]] = {each.value: each for each in (*_DONE, Answer.APPROVE)}


def review(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    one = OneServer(guard, desk)

    async def shown(request: Request, name: str, given: SentForm = NOTHING, problem: PageProblem = FINE) -> Response:
        known = one.find(name)
        if known is None:
            return one.missing(request, name)
        tag, seen = guard.queries.tag(name), guard.queries.seen_now(name)
        server = await guard.queries.server(name)
        definitions = await guard.queries.definitions(name)
        typed = read_choice(given)
        stale = problem.status == 409 and typed is not None
        moved = problem.moved or (guard.queries.differences(name, typed.seen) if stale and typed else ())
        chosen = rows(server["capabilities"], seen, typed, clean=problem is FINE and given.one("decision") == CLEAN)
        return await one.page(
            request,
            known,
            "review",
            "review.html",
            problem.status,
            server=server,
            tag=tag,
            looked=write_seen(seen),
            review=await to_thread.run_sync(review_page, known, definitions, chosen),
            offered=len(chosen),
            moved=moved,
            reasons=review_reasons(),
            confined={"sandbox": given.one("sandbox"), "mounts": given.one("mounts")},
            **_judged(known, inspected=server["observed"] is not None),
            **_typed(given, problem.sentence, stale=stale),
        )

    @router.get("/servers/{name}", dependencies=[may(Right.LOOK)])
    @router.get("/servers/{name}/review", dependencies=[may(Right.LOOK)])
    async def page(request: Request, name: str) -> Response:
        return await shown(request, name)

    @router.post("/servers/{name}/review", dependencies=[may(Right.DECIDE)])
    async def decide(request: Request, name: str) -> Response:
        async def work(by: Actor, given: SentForm) -> tuple[str, DoneNotice] | Response:
            if given.one("decision") == CLEAN:
                return await shown(request, name, given)
            answer = ANSWERS.get(given.one("decision"))
            if answer is None:
                raise Misshapen(400, "this is not a decision about a server; reload the page and try again")
            why = reason_in(given, ReviewReason, answer)
            if answer in (Answer.APPROVE, Answer.REJECT):
                done = await _as_looked(guard, name, answer, given, Decision(by, why))
            else:
                resting = desk.bind_to_page(by, given, partial(guard.queries.tag, name))
                done = await _carried_out(guard, name, answer, Decision(resting, why))
            return path_of(name), done

        async def again(given: SentForm, problem: PageProblem) -> Response:
            return await shown(request, name, given, problem)

        return await desk.carried_out(request, work, again, largest=LARGEST, most=MOST)

    return router


def _judged(known: ServerState, *, inspected: bool) -> Json:
    """Return what is advised about a server, and which findings its approval has to confirm."""
    to_confirm = findings_to_confirm(known)
    advice = advise(known.findings(), inspected=inspected)
    return {"advice": advice, "grave": to_confirm.severities, "to_read": written_out(to_confirm.rules)}


def _typed(given: SentForm, problem: str, *, stale: bool) -> Json:
    """Return what was typed, and why nothing was done."""
    return {
        "typed": {word: given.one(word) for word in ("why", "reason", "read")} | {"problem": problem, "stale": stale}
    }


async def _as_looked(guard: Guard, name: str, answer: Answer, given: SentForm, decision: Decision) -> DoneNotice:
    """Return a choice that names everything on the page."""
    typed = read_choice(given)
    known = guard.servers.find(name)
    if typed is None or known is None:
        raise Misshapen(400, "the form is incomplete; reload the page and try again")
    if answer is Answer.REJECT:
        await guard.decisions.reject(name, typed.seen, decision)
        return _done(name, answer)
    if moved := guard.queries.differences(name, typed.seen):
        raise Stale(moved)
    if typed.seen.capabilities and not typed.keys:
        raise Undecidable(CHOOSE)
    server = await guard.queries.server(name)
    offered = {row.key for row in rows(server["capabilities"], typed.seen, typed) if row.number is not None}
    sandbox, mounts = confinement_of(given)
    approval = Approval(
        typed.seen,
        typed.keys,
        effects(typed),
        read=read_of(given),
        left_out=frozenset(offered - typed.keys),
        sandbox=sandbox,
        mounts=mounts,
    )
    done = await guard.decisions.approve(name, approval, decision)
    sentence = f"Approved {name} with {len(done.approved)} of {len(typed.seen.capabilities)} capabilities."
    starts = " It is starting." if known.enabled else " It stays disabled."
    unread = f" Not approved, because of unread grave findings: {', '.join(done.unread)}." if done.unread else ""
    return DoneNotice(sentence + starts + visible(unread), "approved", f"/servers/{name}/decisions", "Show decisions")


async def _carried_out(guard: Guard, name: str, answer: Answer, decision: Decision) -> DoneNotice:
    answers = guard.decisions
    carry_out = {
        Answer.BLOCK: answers.block,
        Answer.QUARANTINE: answers.quarantine,
        Answer.DISABLE: answers.disable,
        Answer.ENABLE: answers.enable,
    }
    await carry_out[answer](name, decision)
    return _done(name, answer)


def _done(name: str, answer: Answer) -> DoneNotice:
    sentence, kind = _DONE[answer]
    return DoneNotice(sentence.format(name), kind, f"/servers/{name}/decisions", "Show decisions")
