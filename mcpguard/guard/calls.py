"""One call, from what a client asked to what it is told. Start reading here.

Rules kept here:
1. Every call is judged once, here, whatever way it came in, and is one entry in the ledger.
2. Nothing is sent before the verdict that allows it is stored, and nothing is answered before the closing is. What the
   verdict rests on is compared when it is stored, and once more when it is sent.
3. What the upstream says is passed on as it is, its results and its errors, but for what is screened (`screening`).
4. What it asks of the client meanwhile belongs to the same entry (`asking`).
5. A page of a reply that was cut is a call too; for that one nothing is sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mcpguard.codec.messages import dumps
from mcpguard.domain.asks import Declined
from mcpguard.domain.callers import Caller
from mcpguard.domain.calls import Face, Intent
from mcpguard.domain.capabilities import Capability, Effect
from mcpguard.domain.clock import Ids
from mcpguard.domain.counterpart import Counterpart
from mcpguard.domain.errors import Overtaken
from mcpguard.domain.findings import Finding
from mcpguard.domain.objections import NOTHING_MORE, Detail
from mcpguard.domain.outcomes import Outcome, OutcomeKind
from mcpguard.domain.reasons import Reason
from mcpguard.domain.records import Opening
from mcpguard.domain.verdicts import Deny
from mcpguard.guard.asking import Asking
from mcpguard.guard.budgeting import Budgeting
from mcpguard.guard.callers import Callers
from mcpguard.guard.cutting import Cutting
from mcpguard.guard.desk import Desk
from mcpguard.guard.given import Given
from mcpguard.guard.judging import Judged, Judging, Subject
from mcpguard.guard.screening import Said, Screener
from mcpguard.guard.servers import Servers
from mcpguard.ledger.digests import Digests
from mcpguard.ledger.entries import Entry
from mcpguard.ledger.ledger import Ledger
from mcpguard.policy.intents import Stated
from mcpguard.settings.model import Settings
from mcpguard.store.backend import Connection
from mcpguard.upstreams.conversation import ServerError
from mcpguard.upstreams.fleet import Fleet, Turn, Unreachable
from mcpguard.upstreams.inflight import Overdue
from mcpguard.upstreams.transports.endings import Unsent
from mcpguard.upstreams.transports.transport import TransportEnded
from mcpguard.upstreams.turns import Busy

MOST_TRIES = 3
"""How often a call is judged anew, or sent back to wait for a listing, before it is refused."""


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the reply to the call `of`, which was kept."""

    of: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client asked for: which capability of which server, by which method, with which parameters.

    `pinned` is the name under which the capability is found in the catalog; for a resource that a template covers it
    is the template's. The parameters are the server's own, without what belonged to the client's leg of the way. The
    watcher is who wants to hear of changes, where it is that what is asked for. `stated` is what the agent says it
    means to do; None where that is implied by what is called. `page`: what of an earlier reply is asked for; then
    nothing is sent.
    """

    caller: Caller
    face: Face
    method: str
    capability: Capability
    params: Mapping[str, Any]
    client: str = ""
    pinned: Capability | None = None
    trace: str = ""
    watcher: object | None = None
    stated: Stated | None = None
    page: Page | None = None

    def subject(self) -> Subject:
        """What of it is judged: one for the whole call, which remembers what was found out."""
        given = Given(self.method, self.params)
        return Subject(self.caller, self.capability, self.pinned, self.stated, given, kept=self.page is not None)


@dataclass(frozen=True, slots=True)
class Told:
    """How the call ended. Either the upstream's `result`, or its `error`, or a refusal of ours with its reason.

    `findings`: what was found in what waits for a person, where that is the reason; the worst first. `detail`: what is
    told beside the reason.
    """

    call: str
    outcome: Outcome
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    findings: tuple[Finding, ...] = ()
    detail: Detail = NOTHING_MORE


class Calls:
    """Carries out calls."""

    def __init__(
        self,
        servers: Servers,
        ledger: Ledger,
        fleet: Fleet,
        cutting: Cutting,
        digests: Digests,
        new_id: Ids,
        settings: Settings,
        *,
        budgets: Budgeting,
        callers: Callers,
        screener: Screener,
    ) -> None:
        self._servers = servers
        self._callers = callers
        self._judging = Judging(servers, callers.holds)
        self._ledger = ledger
        self._fleet = fleet
        self._cutting = cutting
        self._digests = digests
        self._new_id = new_id
        self._settings = settings.version
        self._budgets = budgets
        self._screener = screener
        self._desk = Desk(ledger, digests, settings.asking)

    async def make(self, asked: Asked, counterpart: Counterpart) -> Told:
        """Judge, record, send, record, answer."""
        subject = asked.subject()
        for _ in range(MOST_TRIES):
            judged = await self._confirmed(subject)
            try:
                with self._budgets.counted(subject.caller, subject.capability, judged.verdict) as place:
                    told = await self._carried_out(asked, subject, judged, counterpart)
                    if place is not None and told.outcome.kind is OutcomeKind.REFUSED:
                        place.take_off()
                    return told
            except Overtaken:
                await self._servers.catch_up(asked.capability.server)
                await self._callers.catch_up()
        # it does not stand still
        refused = replace(judged, verdict=Deny(Reason.CAPABILITY_CHANGED), detail=NOTHING_MORE)
        return await self._carried_out(asked, subject, refused, counterpart)

    def stop_asking(self) -> None:
        """No client is asked anything any more: the guard is about to stop."""
        self._desk.close()

    async def _confirmed(self, subject: Subject) -> Judged:
        with self._cutting.call(subject.capability.server, subject.key, subject.caller.id):
            return await self._judging.confirmed(subject, self._budgets.spent)
        return self._judging.now(subject)

    async def _carried_out(self, asked: Asked, subject: Subject, judged: Judged, counterpart: Counterpart) -> Told:
        opening = self._opening(asked, subject, judged)
        permitted = partial(self._servers.may_ask, asked.capability.server)
        objected = partial(self._judging.meanwhile, subject)
        client = Asking(counterpart, opening, permitted, objected, self._desk, self._screener)
        answer = Said()

        async def work(entry: Entry) -> Outcome:
            with self._cutting.call(asked.capability.server, subject.key, asked.caller.id) as call:
                if asked.page is not None:
                    return self._from_kept(subject, judged, entry, asked.page, answer)
                outcome = await self._sent(asked, subject, judged, entry, client, answer)
                server, noticed = asked.capability.server, client.noticed
                return await self._screener.reply(server, asked.method, judged.pin, outcome, answer, noticed)
            return self._cut_off(subject, entry, by_caller=call.by_caller)

        def still(connection: Connection) -> bool:
            return judged.still(connection) and self._callers.still(connection, asked.caller)

        outcome = await self._ledger.record(opening, work, still)
        if outcome.kind in (OutcomeKind.ANSWERED, OutcomeKind.FAILED) and outcome.reason is None:
            return Told(opening.entry, outcome, answer.result, answer.error)
        detail = judged.detail if outcome.reason is judged.reason else NOTHING_MORE
        return Told(opening.entry, outcome, findings=self._judging.found(subject, outcome.reason), detail=detail)

    def _opening(self, asked: Asked, subject: Subject, judged: Judged) -> Opening:
        pin, given = judged.pin, subject.given or Given(asked.method, asked.params)
        return Opening(
            entry=self._new_id(),
            caller=asked.caller,
            capability=asked.capability,
            intent=asked.stated.intent if asked.stated else Intent(judged.effect or Effect.READ, declared=False),
            face=asked.face,
            verdict=judged.verdict,
            method=asked.method,
            effect=judged.effect,
            fingerprint=pin.approved if pin is not None and judged.effect is not None else None,
            rules=judged.rules,
            settings=self._settings,
            client=asked.client,
            trace=asked.trace,
            continues=asked.page.of if asked.page else "",
            secrets=(*given.found.sure, *given.found.maybe) if given.found else (),
            arguments=self._digests.body(given.written),
        )

    async def _sent(
        self, asked: Asked, subject: Subject, judged: Judged, entry: Entry, client: Asking, answer: Said
    ) -> Outcome:
        try:
            reason = Reason.CAPABILITY_UNCONFIRMED
            for _ in range(MOST_TRIES):
                async with self._fleet.turn(asked.capability.server) as turn:
                    turn.reachable()
                    objection = self._judging.once_more(subject, judged)
                    if objection is None:
                        return await self._told(asked, turn, entry, client, answer)
                    reason = objection
                if reason is not Reason.CAPABILITY_UNCONFIRMED:
                    break
                await self._judging.confirmed(subject)
        except (Busy, Unreachable) as error:
            return Outcome.refused(self._judging.meanwhile(subject) or _reason(error))
        finally:
            client.end()
        return Outcome.refused(reason)

    async def _told(self, asked: Asked, turn: Turn, entry: Entry, client: Asking, answer: Said) -> Outcome:
        """What the server makes of it. Nothing is waited for between the comparison before this and the permit."""
        try:
            if asked.watcher is None:
                answer.result = await turn.send(entry.permit(), asked.method, asked.params, client)
            else:
                await turn.watch(entry.permit(), asked.params["uri"], asked.watcher)
                answer.result = {}
        except Unsent:
            entry.nothing_left()
            return Outcome.refused(Reason.SERVER_UNREACHABLE)
        except (Overdue, TransportEnded, Declined) as error:
            return Outcome.unknown(_reason(error))
        except ServerError as failed:
            answer.error = failed.error
            return Outcome.failed(self._digests.body(dumps(failed.error)))
        reply = self._digests.body(dumps(answer.result))
        return Outcome.failed(reply) if answer.result.get("isError") is True else Outcome.answered(reply)

    def _from_kept(self, subject: Subject, judged: Judged, entry: Entry, page: Page, answer: Said) -> Outcome:
        """A part of what the server said before, which this caller may still use."""
        objection = self._judging.once_more(subject, judged)
        if objection is not None:
            return Outcome.refused(objection)
        entry.permit()
        answer.result = dict(page.result)
        return Outcome.answered(self._digests.body(dumps(answer.result)))

    def _cut_off(self, subject: Subject, entry: Entry, *, by_caller: bool) -> Outcome:
        """What it is about has left `approved`, or whoever made it was revoked. What was sent may have been executed,
        whatever it answers now."""
        if entry.permitted:
            return Outcome.unknown(Reason.CALLER_REVOKED if by_caller else Reason.CAPABILITY_WITHDRAWN)
        why = Reason.CALLER_REVOKED if by_caller else Reason.CAPABILITY_CHANGED
        return Outcome.refused(self._judging.now(subject).reason or why)


def _reason(error: Exception) -> Reason:
    match error:
        case Declined(reason=reason):
            return reason
        case Busy():
            return Reason.SERVER_BUSY
        case Overdue():
            return Reason.REPLY_TIMEOUT
        case TransportEnded():
            return Reason.SERVER_LOST
        case _:
            return Reason.SERVER_UNREACHABLE
