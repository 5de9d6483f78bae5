"""Handles one call, from the client's request to its answer. Start reading here.

Rules kept here:
1. Every call, whichever way it arrived, passes through here once: it is judged, and is one entry in the ledger.
2. Nothing is sent before the verdict that allows it is stored, and nothing is answered before the closing is. What the
   verdict rests on is compared when it is stored, and again when the call is sent.
3. Results and errors of the server are passed on unchanged, except for screening (`screening`). The guard adds that a
   server said them and, beside an error, what the sandbox denies that server (`sandbox_hints`).
4. What the server asks of the client during the call belongs to the same entry (`client_questions`).
5. A request for a page of a truncated reply is a call too; nothing is sent for it.
6. A call that needs approval waits for a reviewer (`waiting_call`), and is then judged again.
7. Listeners that count calls are told of each recorded call once, when it has ended (`events`).
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
from mcpguard.guard.calls.caller_budgets import CallerBudgets
from mcpguard.guard.calls.client_questions import ClientQuestions
from mcpguard.guard.calls.hold_rules import NO_HOLD
from mcpguard.guard.calls.judgement import MAY_WAIT, JudgedCall
from mcpguard.guard.calls.open_call import MOST_TRIES, CallServices, OpenCall
from mcpguard.guard.calls.question_limits import QuestionLimits
from mcpguard.guard.calls.request import CallRequest, CallResult
from mcpguard.guard.calls.sandbox_hints import hint_after_end, with_hint_in_error, with_hint_in_result
from mcpguard.guard.calls.subject import CallSubject
from mcpguard.guard.calls.waiting_call import WaitingCalls
from mcpguard.guard.traffic.events import CallCourse, CallStage
from mcpguard.ledger.ledger import Ledger
from mcpguard.policy.arguments.call_arguments import Arguments
from mcpguard.settings.model import Settings


class Calls:
    """Handles calls, whichever door they come through."""

    def __init__(
        self,
        services: CallServices,
        ledger: Ledger,
        holding: WaitingCalls,
        budgets: CallerBudgets,
        new_id: Ids,
        settings: Settings,
    ) -> None:
        self._services = services
        self._ledger = ledger
        self._holding = holding
        self._budgets = budgets
        self._new_id = new_id
        self._settings = settings.version
        self._desk = QuestionLimits(ledger, services.bodies, settings.asking)

    async def handle(self, asked: CallRequest, counterpart: Counterpart) -> CallResult:
        """Judge the call, record that, send it, record how it ended, and return what the client is told."""
        subject, course = asked.subject(), self._services.events.begin_course(asked.trace)
        # Overtaken means that between the verdict and its transaction the server, the approval or the token has
        # changed. What was judged is not what would be stored, so the call is judged again.
        for _ in range(MOST_TRIES):
            judged = self._judge_now(subject)
            if judged.reason in MAY_WAIT:
                judged = await self._judge_after_waiting(subject, course)
            try:
                with self._budgets.count_call(subject.caller, subject.capability, judged.verdict) as place:
                    told = await self._carry_out(asked, subject, judged, counterpart, course)
                    # Refused after all, so it costs the caller nothing.
                    if place is not None and told.outcome.kind is OutcomeKind.REFUSED:
                        place.take_off()
                    return told
            except Overtaken:
                course.enter(CallStage.JUDGING)
                await self._services.catch_up(asked.capability.server)
        # The server or its approval changes faster than calls are judged: refuse, instead of trying for ever.
        refused = replace(judged, verdict=Deny(Reason.CAPABILITY_CHANGED), detail=NOTHING_MORE, hold=NO_HOLD)
        return await self._carry_out(asked, subject, refused, counterpart, course)

    def preview(self, asked: CallRequest) -> JudgedCall:
        """The verdict that this call would get now. Nothing is sent, counted or recorded."""
        return self._judge_now(asked.subject())

    def count_handshake(self, caller: Caller) -> int:
        """Count a handshake within the caller's budget. Returns 0, or the seconds after which there is room for one."""
        return self._budgets.count_handshake(caller)

    def stop_asking(self) -> None:
        """End all questions to clients and all waiting for approval, as the guard is about to stop."""
        self._desk.close()
        self._holding.close()

    def _judge_now(self, subject: CallSubject) -> JudgedCall:
        exhausted = self._budgets.exhausted_budget(subject.caller, subject.capability)
        return self._services.judging.judge(subject, exhausted=exhausted)

    async def _judge_after_waiting(self, subject: CallSubject, course: CallCourse) -> JudgedCall:
        # A call that waits for a first connection or a listing can be cut off, too.
        with self._services.running_calls.call(subject.capability.server, subject.key, subject.caller.id):
            return await self._services.judging.judge_confirmed(
                subject, self._budgets.exhausted_budget, course.enter_listing
            )
        # Cut off while it waited: judged once more, so that the refusal says why. The server may be approved again by
        # now, so the budget is asked about here too.
        return self._judge_now(subject)

    async def _carry_out(
        self, asked: CallRequest, subject: CallSubject, judged: JudgedCall, counterpart: Counterpart, course: CallCourse
    ) -> CallResult:
        course.enter(CallStage.RECORDING)
        # Arguments are masked here, outside the transaction, which must not wait for it.
        opening = await self._make_opening(asked, subject, judged)
        with self._holding.part(subject, judged, opening) as part:
            if part is not None:  # from here on it is judged as one that a person was asked about
                subject, opening = replace(subject, ticket=part.id), replace(opening, ticket=part.id)
            client = self._client_for(asked, subject, opening, counterpart)
            making = OpenCall(self._services, asked, subject, judged, client, part, course)
            ended = partial(self._services.events.publish_end, course, opening, _approved_name(judged))
            outcome = await self._ledger.record(opening, making.work, making.confirm_in_store, ended)
        ended(outcome)
        if outcome.kind in (OutcomeKind.ANSWERED, OutcomeKind.FAILED) and outcome.reason is None:
            return self._server_result(opening, outcome, making)
        detail = judged.detail if outcome.reason is judged.reason else NOTHING_MORE
        found = self._services.judging.findings_told(subject, outcome.reason)
        detail = making.detail or self._sandbox_hint(opening, outcome) or detail
        unseen = self._services.judging.uninspected_server(subject, outcome.reason)
        return CallResult(
            opening.entry, outcome, capability=opening.capability, findings=found, unseen=unseen, detail=detail
        )

    def _sandbox_hint(self, opening: Opening, outcome: Outcome) -> Detail | None:
        """What in its sandbox may have kept a server from running, where the call ended because it could not be
        reached."""
        known = self._services.servers.find(opening.capability.server)
        if known is None or outcome.reason is not Reason.SERVER_UNREACHABLE:
            return None
        return hint_after_end(self._services.servers.end_of_connection(known), known.declared.launch)

    def _server_result(self, opening: Opening, outcome: Outcome, making: OpenCall) -> CallResult:
        """The result or error of the server; where it failed, with a hint at what in its sandbox may be the cause."""
        known = self._services.servers.find(opening.capability.server)
        result, error = making.result, making.error
        if known is not None and outcome.kind is OutcomeKind.FAILED:
            launch = known.declared.launch
            result = None if result is None else with_hint_in_result(result, launch)
            error = None if error is None else with_hint_in_error(error, launch)
        if result is not None:
            return CallResult(opening.entry, outcome, envelope.with_meta(result, envelope.BY_SERVER))
        return CallResult(opening.entry, outcome, error=None if error is None else envelope.as_server_error(error))

    def _client_for(
        self, asked: CallRequest, subject: CallSubject, opening: Opening, counterpart: Counterpart
    ) -> ClientQuestions:
        """The client, in the form in which the server may ask it something."""
        permitted = partial(self._services.servers.may_ask, asked.capability.server)
        objected = partial(self._services.judging.objection_while_running, subject)
        return ClientQuestions(counterpart, opening, permitted, objected, self._desk, self._services.screener)

    async def _make_opening(self, asked: CallRequest, subject: CallSubject, judged: JudgedCall) -> Opening:
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
        bodies = self._services.bodies
        return bodies.with_arguments(
            opening, await bodies.make_body(asked.capability.server, given.params, given.encoded)
        )


def _approved_name(judged: JudgedCall) -> str:
    """The name of what was called, where it is approved; else empty. Names that agents invent are counted nowhere."""
    return judged.pin.name if judged.pin is not None and judged.pin.callable else ""
