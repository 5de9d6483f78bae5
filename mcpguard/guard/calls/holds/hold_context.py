"""What a reviewer is shown beside a held call: its risk, what its caller did lately, and earlier answers to its like.

Rules kept here:
1. Everything comes from records, and the work is limited: what lies further back is not looked for, and the result
   says how far it looks.
2. A record may say anything, as whoever can write to the store can make it; texts are passed on, never trusted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

from anyio import to_thread

from mcpguard.domain.calls.holds import HeldCall
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.capabilities import Capability, Effect
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Answer
from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.domain.json import Json
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.holds.hold_risk import HoldRisk, Precedents, RiskFacts, risk_of
from mcpguard.guard.calls.holds.outside_destinations import outside_destinations
from mcpguard.guard.calls.holds.sent_parameters import sent_parameters
from mcpguard.guard.servers.registry import Registry
from mcpguard.inspection.diff.diff import compare_definitions
from mcpguard.inspection.diff.shown_values import as_json
from mcpguard.ledger.format import parse_content
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import records
from mcpguard.store.search.past_answers import LookBack, past_answers
from mcpguard.store.search.record_search import search

RECENT_US: Final = 10 * 60 * 1_000_000
MOST_CALLS: Final = 200
PRECEDENTS_US: Final = 90 * 86_400 * 1_000_000
MOST_ANSWERS: Final = 50
AMONG: Final = 20_000
"""The newest records, or decisions, that are looked through."""
MISTRUSTED: Final = frozenset({Reason.CAPABILITY_CHANGED, Reason.CAPABILITY_BLOCKED, Reason.SERVER_BLOCKED})
"""A caller who was denied for these reasons tried what may attack it."""
Said = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HoldRecords:
    """What the store has about a held call: its opening, the calls of its caller, the answers to its like, and the body
    of the last one that was allowed."""

    opening: Said
    calls: Sequence[Said]
    answers: Sequence[Said]
    last_allowed: Said | None
    its_body: bytes | None


class HoldContexts:
    """Reads the context of held calls from the audit log."""

    def __init__(self, registry: Registry, store: Store, chain: str, clock: Clock) -> None:
        self._registry = registry
        self._store = store
        self._chain = chain
        self._clock = clock

    async def contexts(self, holds: Sequence[HeldCall], bodies: Mapping[str, bytes | None]) -> dict[str, Json]:
        """The context of each of these held calls, as JSON by ticket. `bodies`: what each would send."""
        now = self._clock.now()
        found = await self._store.readers.run(partial(_read, self._chain, holds, now))
        known = {hold.id: self._grave_findings(hold.capability) for hold in holds}

        def told() -> dict[str, Json]:
            return {
                hold.id: _context(hold, found[hold.id], sent_parameters(bodies.get(hold.id)), known[hold.id], now)
                for hold in holds
            }

        # In a thread: comparing arguments takes up to 40 ms.
        return await to_thread.run_sync(told)

    def _grave_findings(self, capability: Capability) -> int:
        """How many grave findings the capability has today."""
        known = self._registry.find(capability.server)
        found = known.findings_in((capability.kind, capability.name)).findings if known else ()
        return sum(finding.grave for finding in found)


def _read(chain: str, holds: Sequence[HeldCall], now: int, connection: Connection) -> dict[str, HoldRecords]:
    openings = records.openings(connection, chain, [hold.id for hold in holds])
    # Several calls of one caller, or of one capability, may wait.
    callers = {hold.caller: _calls(connection, chain, hold.caller, now) for hold in holds}
    answers = {hold.capability: _answers(connection, chain, hold.capability, now) for hold in holds}
    found = {}
    for hold in holds:
        others = [said for said in answers[hold.capability] if said.get("ticket") != hold.id]
        allowed = next(_still_allowed(others), None)
        body = None if allowed is None else records.body_of(connection, chain, allowed["ticket"], RecordKind.OPENED)
        calls = [said for said in callers[hold.caller] if said.get("entry") != hold.id]
        found[hold.id] = HoldRecords(parse_content(openings.get(hold.id)), calls, others, allowed, body)
    return found


def _calls(connection: Connection, chain: str, caller: str, now: int) -> list[Said]:
    terms = FilterTerm(FilterKey.CALLER, (caller,)), FilterTerm(FilterKey.KIND, (RecordKind.OPENED.value,))
    wanted = Filter(terms, since=now - RECENT_US)
    made = search(connection, chain, wanted, start=None, limit=MOST_CALLS, newest_first=True, among=AMONG)
    return [said for each in made.records if (said := parse_content(each.content)).get("caller") == caller]


def _answers(connection: Connection, chain: str, about: Capability, now: int) -> list[Said]:
    look_back = LookBack(now - PRECEDENTS_US, MOST_ANSWERS, AMONG)
    every = (parse_content(each.content) for each in past_answers(connection, chain, about, look_back))
    return [said for said in every if isinstance(said.get("ticket"), str)]


def _still_allowed(answers: Sequence[Said]) -> Iterator[Said]:
    """Yield the answers that allowed a call, of those whose approval was not revoked later; the newest first."""
    newest = {said["ticket"]: said for said in reversed(answers)}
    yield from (said for said in answers if newest[said["ticket"]] is said and said.get("answer") == Answer.ALLOW)


def _context(hold: HeldCall, found: HoldRecords, sent: Json, findings: int, now: int) -> Json:
    allowed = [*_still_allowed(found.answers)]
    fitting = [said for said in allowed if said.get("fingerprint", "") == hold.asking.fingerprint]
    precedents = Precedents(
        len(fitting),
        sum(said.get("caller") == hold.caller for said in fitting),
        len(allowed) - len(fitting),
        more=len(found.answers) >= MOST_ANSWERS - 1,
    )
    denied = [said for said in found.calls if said.get("verdict") == Deny.word]
    risk = risk_of(
        RiskFacts(
            Effect(hold.asking.effect),
            precedents,
            tuple(_text(found.opening, "secrets").split()),
            outside_destinations(sent["sent"]),
            sum(said.get("reason") in MISTRUSTED for said in denied),
            findings,
        )
    )
    return {
        "risk": _risk_json(risk),
        "recent": {
            "since": now - RECENT_US,
            "calls": [_call_json(said) for said in found.calls],
            "denied": len(denied),
            "more": len(found.calls) >= MOST_CALLS - 1,
        },
        "precedents": {
            "since": now - PRECEDENTS_US,
            "answers": [_answer_json(said, hold) for said in found.answers],
            "allowed": precedents.allowed,
            "more": precedents.more,
        },
        "compared": _compared(found, sent["arguments"]),
    }


def _risk_json(risk: HoldRisk) -> Json:
    return {"level": risk.level.value, "clauses": [asdict(clause) for clause in risk.clauses]}


def _call_json(said: Said) -> Json:
    words = ("verdict", "reason", "server", "name", "effect")
    return {"call": _text(said, "entry"), "at": _number(said, "at"), **{word: _text(said, word) for word in words}}


def _answer_json(said: Said, hold: HeldCall) -> Json:
    return {
        "ticket": _text(said, "ticket"),
        "at": _number(said, "at"),
        **{word: _text(said, word) for word in ("answer", "by", "why")},
        "caller": {"id": _text(said, "caller"), "name": _text(said, "caller_label")},
        "same_version": said.get("fingerprint", "") == hold.asking.fingerprint,
    }


def _compared(found: HoldRecords, arguments: object) -> Json | None:
    """The comparison with the last call that was allowed; None if there is none. Its `diff` is None where the arguments
    of either are not kept any more."""
    if (last := found.last_allowed) is None:
        return None
    told = {"ticket": _text(last, "ticket"), "at": _number(last, "at")}
    before = sent_parameters(found.its_body)["arguments"]
    kept = before is not None and arguments is not None
    return {**told, "diff": as_json(compare_definitions(before, arguments)) if kept else None}


def _text(said: Said, name: str) -> str:
    found = said.get(name)
    return found if isinstance(found, str) else ""


def _number(said: Said, name: str) -> int:
    found = said.get(name)
    return found if isinstance(found, int) else 0
