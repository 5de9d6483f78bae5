"""One call, from what a client asked to what it is told. Start reading here.

Rules kept here:
1. Every call is judged once, here, whatever way it came in, and is one entry in the ledger.
2. Nothing is sent before the verdict that allows it is stored, and nothing is answered before the closing is. What the
   verdict rests on is compared when it is stored, and once more when it is sent.
3. What the upstream says is passed on as it is, its results and its errors, but for what is screened (`screening`);
   what is added is that a server says it, and beside an error what its sandbox keeps from it (`sandbox_hints`).
4. What it asks of the client meanwhile belongs to the same entry (`client_questions`).
5. A page of a reply that was cut is a call too; for that one nothing is sent.
6. A call that a person must allow waits for them (`waiting_call`), and is then judged again.
7. Whoever counts calls hears of each that was recorded, once, when it has ended (`events`).
"""

from dataclasses import replace
from functools import partial

from mcpguard.codec import envelope
from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.calls import Intent
from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.calls.objections import NOTHING_MORE, Detail
from mcpguard.domain.calls.outcomes import Outcome, OutcomeKind
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.clock import Ids
from mcpguard.domain.errors import Overtaken
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.caller_budgets import Budgeting
from mcpguard.guard.calls.client_questions import ClientQuestions
from mcpguard.guard.calls.hold_rules import NOBODY
from mcpguard.guard.calls.judgement import Judged
from mcpguard.guard.calls.open_call import MOST_TRIES, Making, With
from mcpguard.guard.calls.question_limits import QuestionLimits
from mcpguard.guard.calls.request import CallRequest, CallResult
from mcpguard.guard.calls.sandbox_hints import beside_end, beside_error, beside_result
from mcpguard.guard.calls.subject import CallSubject
from mcpguard.guard.calls.waiting_call import Holding
from mcpguard.guard.traffic.events import CallStage, Course
from mcpguard.ledger.ledger import Ledger
from mcpguard.policy.arguments.call_arguments import Arguments
from mcpguard.settings.model import Settings


class Calls:
    """Carries out calls."""

    def __init__(
        self,
        with_: With,
        ledger: Ledger,
        holding: Holding,
        budgets: Budgeting,
        new_id: Ids,
        settings: Settings,
    ) -> None:
        self._with = with_
        self._ledger = ledger
        self._holding = holding
        self._budgets = budgets
        self._new_id = new_id
        self._settings = settings.version
        self._desk = QuestionLimits(ledger, with_.bodies, settings.asking)

    async def make(self, asked: CallRequest, counterpart: Counterpart) -> CallResult:
        """Judge, record, send, record, answer."""
        subject, course = asked.subject(), self._with.events.course(asked.trace)
        for _ in range(MOST_TRIES):
            judged = await self._confirmed(subject, course)
            try:
                with self._budgets.counted(subject.caller, subject.capability, judged.verdict) as place:
                    told = await self._carried_out(asked, subject, judged, counterpart, course)
                    if place is not None and told.outcome.kind is OutcomeKind.REFUSED:
                        place.take_off()
                    return told
            except Overtaken:
                course.enter(CallStage.JUDGING)
                await self._with.catch_up(asked.capability.server)
        # it does not stand still
        refused = replace(judged, verdict=Deny(Reason.CAPABILITY_CHANGED), detail=NOTHING_MORE, look=NOBODY)
        return await self._carried_out(asked, subject, refused, counterpart, course)

    def foreseen(self, asked: CallRequest) -> Judged:
        """What the verdict would be now. Nothing is sent, counted or recorded."""
        subject = asked.subject()
        return self._with.judging.now(subject, self._budgets.spent(subject.caller, subject.capability))

    def greet(self, caller: Caller) -> int:
        """Count a handshake within the caller's budget. Give 0, or the seconds after which there is room for one."""
        return self._budgets.greet(caller)

    def stop_asking(self) -> None:
        """No client is asked anything any more, and none waits for a person: the guard is about to stop."""
        self._desk.close()
        self._holding.close()

    async def _confirmed(self, subject: CallSubject, course: Course) -> Judged:
        with self._with.cutting.call(subject.capability.server, subject.key, subject.caller.id):
            return await self._with.judging.confirmed(subject, self._budgets.spent, course.listing)
        return self._with.judging.now(subject)

    async def _carried_out(
        self, asked: CallRequest, subject: CallSubject, judged: Judged, counterpart: Counterpart, course: Course
    ) -> CallResult:
        course.enter(CallStage.RECORDING)
        opening = await self._opening(asked, subject, judged)
        with self._holding.part(subject, judged, opening) as part:
            if part is not None:  # from here on it is judged as one that a person was asked about
                subject, opening = replace(subject, ticket=part.id), replace(opening, ticket=part.id)
            client = self._asking(asked, subject, opening, counterpart)
            making = Making(self._with, asked, subject, judged, client, part, course)
            ended = partial(self._with.events.ended, course, opening, _approved(judged))
            outcome = await self._ledger.record(opening, making.work, making.still, ended)
        ended(outcome)
        if outcome.kind in (OutcomeKind.ANSWERED, OutcomeKind.FAILED) and outcome.reason is None:
            return self._by_server(opening, outcome, making)
        detail = judged.detail if outcome.reason is judged.reason else NOTHING_MORE
        found = self._with.judging.found(subject, outcome.reason)
        detail = making.detail or self._unreachable(opening, outcome) or detail
        unseen = self._with.judging.unseen(subject, outcome.reason)
        return CallResult(
            opening.entry, outcome, capability=opening.capability, findings=found, unseen=unseen, detail=detail
        )

    def _unreachable(self, opening: Opening, outcome: Outcome) -> Detail | None:
        """What of its sandbox may keep a server from running."""
        known = self._with.servers.find(opening.capability.server)
        if known is None or outcome.reason is not Reason.SERVER_UNREACHABLE:
            return None
        return beside_end(self._with.servers.ended(known), known.declared.launch)

    def _by_server(self, opening: Opening, outcome: Outcome, making: Making) -> CallResult:
        """What the server said, and beside an error what of its sandbox may be the cause."""
        known = self._with.servers.find(opening.capability.server)
        result, error = making.result, making.error
        if known is not None and outcome.kind is OutcomeKind.FAILED:
            launch = known.declared.launch
            result = None if result is None else beside_result(result, launch)
            error = None if error is None else beside_error(error, launch)
        if result is not None:
            return CallResult(opening.entry, outcome, envelope.with_meta(result, envelope.BY_SERVER))
        return CallResult(opening.entry, outcome, error=None if error is None else envelope.as_server_error(error))

    def _asking(
        self, asked: CallRequest, subject: CallSubject, opening: Opening, counterpart: Counterpart
    ) -> ClientQuestions:
        """The client, as the server may ask it."""
        permitted = partial(self._with.servers.may_ask, asked.capability.server)
        objected = partial(self._with.judging.meanwhile, subject)
        return ClientQuestions(counterpart, opening, permitted, objected, self._desk, self._with.screener)

    async def _opening(self, asked: CallRequest, subject: CallSubject, judged: Judged) -> Opening:
        pin, given = judged.pin, subject.given or Arguments(asked.method, asked.params)
        opening = Opening(
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
            by=asked.by,
            secrets=(*given.found.sure, *given.found.maybe) if given.found else (),
        )
        bodies = self._with.bodies
        return bodies.opening(opening, await bodies.of(asked.capability.server, given.params, given.written))


def _approved(judged: Judged) -> str:
    """Its name, where a person has approved that."""
    return judged.pin.name if judged.pin is not None and judged.pin.callable else ""
