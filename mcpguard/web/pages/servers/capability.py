"""`/servers/{name}/capability?kind=…&name=…`: one capability, its versions, and the decision about it.

Rules kept here:
1. A decision names the definition that was on the page. If another is listed by then, nothing happens.
2. Who may call it, who has, and the words that agents searched for before are shown only to those who may read the
   audit log.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from mcpguard.domain.capabilities import FINGERPRINT, Capability, CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import Actor, Answer, CapabilityKey, Decision, Unknown
from mcpguard.domain.findings import InspectionFindings
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.domain.usual_reasons import ReviewReason
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.confirmations import grave_rules
from mcpguard.guard.search.learned_summary import LearnedSummary
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.review_advice import advise
from mcpguard.web.forms import FINE, Misshapen, PageProblem, SentForm
from mcpguard.web.gate.access import may
from mcpguard.web.pages.base.console import Console, DoneNotice, principal
from mcpguard.web.pages.base.reason_choice import reason_in, review_reasons
from mcpguard.web.pages.base.route import PageRoute
from mcpguard.web.pages.servers.choices import careful_effect
from mcpguard.web.pages.servers.evidence import NumberedFinding, finding_with_number, marks, with_decoded
from mcpguard.web.pages.servers.one_server import OneServer
from mcpguard.web.pages.servers.raw import Raw, raw

CALLS: Final = 10
NOTHING: Final = SentForm([])
SIDES: Final = "sides"
"""The view of a comparison in which both versions stand side by side."""
ANSWERS: Final[Mapping[str, Answer]] = {
    each.value: each for each in (Answer.BLOCK, Answer.REJECT, Answer.REVOKE, Answer.UNBLOCK, Answer.APPROVE)
}
_DONE: Final = {
    Answer.BLOCK: ("Blocked {} in all versions. Calls are denied until a reviewer unblocks it.", "blocked"),
    Answer.REJECT: ("Kept {} blocked. It returns to the inbox when it changes.", "pending"),
    Answer.REVOKE: ("Revoked the approval of {}. Calls are denied until a reviewer approves it again.", "pending"),
    Answer.UNBLOCK: ("Unblocked {}. It needs review.", "pending"),
    Answer.APPROVE: ("Approved {}.", "approved"),
}


@dataclass(frozen=True, slots=True)
class UnsentForm:
    """A form that was not carried out: what was typed into it, and why. Without a problem nothing was sent."""

    given: SentForm = NOTHING
    problem: PageProblem = FINE


UNTYPED: Final = UnsentForm()


@dataclass(frozen=True, slots=True)
class LearnedPart:
    """What search has learned of a tool, and its form: where that leads, what was typed into it, and why nothing was
    forgotten."""

    summary: LearnedSummary
    url: str
    why: str
    problem: str


class CapabilityPage:
    """Shows one capability, and does what its forms say."""

    def __init__(self, guard: Guard, desk: Console) -> None:
        self._guard = guard
        self._desk = desk
        self._one = OneServer(guard, desk)

    async def show(
        self, request: Request, name: str, decided: UnsentForm = UNTYPED, forgetting: UnsentForm = UNTYPED
    ) -> Response:
        guard, known, key = self._guard, self._one.find(name), key_of(request)
        if known is None:
            return self._one.missing(request, name)
        if key is None or key not in known.pins:
            return self._desk.missing(request, f"{name} has no capability of this kind and name.")
        tag = guard.queries.tag(name, key)
        said = await guard.queries.capability(name, key)
        found = known.found.at(known.pins[key])
        shown = raw(said["definition"], marks(found)) if said["complete"] else None
        numbered = _numbered(key, found, said["definition"], shown)
        return await self._one.page(
            request,
            known,
            "capabilities",
            "capability.html",
            max(decided.problem.status, forgetting.problem.status),
            one=said,
            tag=tag,
            raw=shown,
            numbered=numbered,
            **_verdict(key, found, said),
            diff=await _diff(guard, request, name, key, said),
            chosen_effect=decided.given.one("effect") or said["assigned"] or careful_effect(said),
            to_read=" ".join(sorted(grave_rules(known, key))),
            typed=_typed(decided.given, decided.problem),
            moved=decided.problem.moved,
            **_views(request, name, key),
            use=await _use(guard, self._one, request, known, key),
            learned=_learned(guard, request, name, key, forgetting),
            script=guard.scripts.review_json(known, said["definition"]) if guard.scripts is not None else None,
        )

    async def decide(self, request: Request, name: str, by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
        guard, answer, key = self._guard, ANSWERS.get(given.one("decision")), key_of(request)
        if answer is None or key is None:
            raise Misshapen(400, "this is not a decision about a capability; reload the page and try again")
        resting = self._desk.bind_to_page(by, given, partial(guard.queries.tag, name, key))
        effect = _effect(given) if answer is Answer.APPROVE else None
        seen = _print(given.one("fingerprint"))
        decision, read = Decision(resting, reason_in(given, ReviewReason, answer)), given.one("read").split()
        await guard.decisions.decide(name, key, answer, seen, decision, effect, read)
        sentence, kind = _DONE[answer]
        return url_of(name, key), DoneNotice(sentence.format(f"{name}:{key[1]}"), kind)

    async def forget(self, request: Request, name: str, by: Actor, given: SentForm) -> tuple[str, DoneNotice]:
        key = key_of(request)
        if key is None or key[0] is not CapabilityKind.TOOL:
            raise Misshapen(400, "search learns only of tools; reload the page and try again")
        await self._guard.learning.forget((name, key[1]), Decision(by, given.one("why")))
        return url_of(name, key), DoneNotice(f"Forgot what search had learned of {name}:{key[1]}.")


def capability(guard: Guard, desk: Console) -> APIRouter:
    router = APIRouter(route_class=PageRoute)
    one = CapabilityPage(guard, desk)

    @router.get("/servers/{name}/capability", dependencies=[may(Right.LOOK)])
    async def page(request: Request, name: str) -> Response:
        return await one.show(request, name)

    @router.post("/servers/{name}/capability", dependencies=[may(Right.DECIDE)])
    async def decide(request: Request, name: str) -> Response:
        async def again(given: SentForm, problem: PageProblem) -> Response:
            return await one.show(request, name, decided=UnsentForm(given, problem))

        return await desk.carried_out(request, partial(one.decide, request, name), again)

    @router.post("/servers/{name}/capability/forget", dependencies=[may(Right.DECIDE)])
    async def forget(request: Request, name: str) -> Response:
        async def again(given: SentForm, problem: PageProblem) -> Response:
            return await one.show(request, name, forgetting=UnsentForm(given, problem))

        return await desk.carried_out(request, partial(one.forget, request, name), again)

    return router


def key_of(request: Request) -> CapabilityKey | None:
    """Return the capability that the URL names; kinds are a closed set, names anything."""
    kind, name = request.query_params.get("kind", ""), request.query_params.get("name", "")
    return (CapabilityKind(kind), name) if kind in tuple(CapabilityKind) else None


def url_of(name: str, key: CapabilityKey, **more: str) -> str:
    return f"/servers/{name}/capability?" + urlencode({"kind": key[0].value, "name": key[1], **more})


def _views(request: Request, name: str, key: CapabilityKey) -> Json:
    """Return where the page is, how its comparison is shown, where that is shown in the other way, and the reasons."""
    given = request.query_params
    compared = {word: given[word] for word in ("before", "after") if FINGERPRINT.fullmatch(given.get(word, ""))}
    both = given.get("view") == SIDES
    other = url_of(name, key, **(compared if both else {**compared, "view": SIDES}))
    return {"url": url_of(name, key), "side_by_side": both, "beside": f"{other}#h-diff", "reasons": review_reasons()}


def _numbered(
    key: CapabilityKey, found: InspectionFindings, definition: object, shown: Raw | None
) -> list[NumberedFinding]:
    """Return the findings in their order: each with its number, and an excerpt where it has no mark on the page."""
    placed = {mark.number for mark in shown.marks} if shown else set[int]()
    every = (
        finding_with_number(number, each, key, definition, placed=number in placed)
        for number, each in enumerate(found.findings, 1)
    )
    return list(with_decoded(every, {key: definition}))


def _verdict(key: CapabilityKey, found: InspectionFindings, said: Json) -> Json:
    """Return what is advised about what is listed now, and how many findings the approved version had: None where that
    is this one, or there is none."""
    is_another = said["approved"] not in (None, said["fingerprint"])
    counts = {each["fingerprint"]: len(each["findings"]) for each in said["versions"]}
    return {
        "advice": advise(((each, key) for each in found.findings), inspected=True),
        "approved_findings": counts.get(said["approved"]) if is_another else None,
    }


def _typed(given: SentForm, problem: PageProblem) -> Json:
    said = {"read": given.one("read"), "why": given.one("why"), "reason": given.one("reason")}
    return {**said, "problem": problem.sentence, "stale": problem.status == 409}


def _print(text: str) -> Fingerprint | None:
    return Fingerprint(text) if text else None


def _effect(given: SentForm) -> Effect | None:
    """Return the chosen effect. Raises Misshapen."""
    word = given.one("effect")
    if word and word not in tuple(Effect):
        raise Misshapen(400, "an effect is read, write or destructive")
    return Effect(word) if word else None


async def _diff(guard: Guard, request: Request, name: str, key: CapabilityKey, said: Json) -> Json | None:
    """Compare the versions that the URL names; by default the approved or previous one with the listed one."""
    wanted = {word: request.query_params.get(word, "") for word in ("before", "after")}
    before, after = (_print(each) if FINGERPRINT.fullmatch(each) else None for each in wanted.values())
    moved = said["approved"] is not None and said["approved"] != said["fingerprint"]
    if not (before or after or moved or len(said["versions"]) > 1):
        return None
    try:
        return await guard.queries.diff(name, key, before, after)
    except Unknown:
        return None


def _learned(
    guard: Guard, request: Request, name: str, key: CapabilityKey, forgetting: UnsentForm
) -> LearnedPart | None:
    """Return what search has learned of a tool; None for other kinds, and for readers who may not see that."""
    if key[0] is not CapabilityKind.TOOL or not principal(request).may(Right.AUDIT):
        return None
    url = f"/servers/{name}/capability/forget?" + urlencode({"kind": key[0].value, "name": key[1]})
    summary = guard.searching.learned_words(name, key[1])
    return LearnedPart(summary, url, forgetting.given.one("why"), forgetting.problem.sentence)


async def _use(guard: Guard, one: OneServer, request: Request, known: ServerState, key: CapabilityKey) -> Json | None:
    """Return who may call it and who has; None for readers who may not see that."""
    if not principal(request).may(Right.AUDIT):
        return None
    capability = Capability(known.name, *key)
    effect = known.pins[key].effect or Effect.READ
    return {
        "callers": guard.granting.callers_in_scope(capability, effect),
        "anonymous": guard.granting.anonymous_reaches(capability, effect),
        "calls": await one.calls(known.name, CALLS, key),
    }
