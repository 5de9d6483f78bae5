"""Handles one call, from the client's request to its answer. Start reading here: a plain call is told in this file.

Rules kept here:
1. Every call, whichever way it arrived, passes through here once: it is judged, and is one entry in the ledger.
2. Nothing is sent before the verdict that allows it is stored, and nothing is answered before the closing is. What the
   verdict rests on is compared in the transaction that stores it, and again before the first byte, with no await in
   between.
3. A call that is cut off either was not sent, or is recorded as possibly executed, whatever the server answers later.
4. Results and errors of the server are passed on unchanged, except for screening (`screening`). The guard adds that a
   server said them and, beside an error, what the sandbox denies that server (`sandbox_hints`).
5. What the server asks of the client during the call belongs to the same entry (`client_questions`).
6. Listeners that count calls are told of each recorded call once, when it has ended (`events`).

A plain call enters none of the branches: waiting for a server that starts or is listed, waiting for approval
(`holds`), a page of an earlier reply (`page_answer`), an approved script (`script_call`),
a refusal or a failure (`refused_call`).
"""

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Final

from mcpguard.codec import envelope
from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.calls import IMPLIED
from mcpguard.domain.calls.counterpart import CallingClient
from mcpguard.domain.calls.objections import NOTHING_MORE
from mcpguard.domain.calls.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.clock import Ids
from mcpguard.domain.errors import LedgerUnavailable, Overtaken
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.guard.calls.client_questions import ClientQuestions
from mcpguard.guard.calls.holds.approved_call import wait_for_approval
from mcpguard.guard.calls.holds.hold_rules import NO_HOLD
from mcpguard.guard.calls.holds.waiting_call import WaitingCalls
from mcpguard.guard.calls.judgement import MAY_WAIT, JudgedCall
from mcpguard.guard.calls.open_call import MOST_TRIES, CallServices, OpenCall
from mcpguard.guard.calls.page_answer import answer_page
from mcpguard.guard.calls.question_limits import QuestionLimits
from mcpguard.guard.calls.refused_call import UNREPLIED, outcome_after, outcome_when_cut_off, tell_failure
from mcpguard.guard.calls.request import CallRequest, CallResult
from mcpguard.guard.calls.script_call import RunScript, run_script
from mcpguard.guard.servers.running_calls import RunningCall
from mcpguard.guard.traffic.events import CallCourse, CallStage
from mcpguard.ledger.entries import Entry
from mcpguard.ledger.ledger import Ledger
from mcpguard.policy.budgets import CallBudgets
from mcpguard.settings.model import Settings
from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.supervise.fleet import PlaceRequest

NO_PART: Final = nullcontext()


class Calls:
    """Handles calls, whichever door they come through."""

    def __init__(
        self,
        services: CallServices,
        ledger: Ledger,
        holding: WaitingCalls,
        budgets: CallBudgets,
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
        self.run_script: RunScript | None = None
        """Runs approved scripts; None where programs are switched off."""

    async def handle(self, asked: CallRequest, counterpart: CallingClient) -> CallResult:
        """Judge the call, record that, send it, record how it ended, and return what the client is told."""
        services = self._services
        call = OpenCall(asked, CallCourse(services.events.clock, asked.trace))
        # Overtaken means that between the verdict and its transaction the server, the approval or the token has
        # changed. What was judged is not what would be stored, so the call is judged again.
        for _ in range(MOST_TRIES):
            judged = services.judging.judge(call.asked, self._budgets.exhausted_budget)
            if judged.verdict.reason in MAY_WAIT:
                judged = await self._judge_after_waiting(call)
            try:
                return await self._carry_out(call, judged, counterpart)
            except Overtaken:
                call.leave_hold()
                call.course.enter(CallStage.JUDGING)
                await services.catch_up(asked.capability.server)
        # The server or its approval changes faster than calls are judged: refuse, instead of trying for ever.
        refused = replace(judged, verdict=Deny(Reason.CAPABILITY_CHANGED), detail=NOTHING_MORE, hold=NO_HOLD)
        return await self._carry_out(call, refused, counterpart)

    async def _carry_out(self, call: OpenCall, judged: JudgedCall, counterpart: CallingClient) -> CallResult:
        asked, services = call.asked, self._services
        call.judged = judged
        call.course.enter(CallStage.RECORDING)
        # Arguments are masked here, outside the transaction, which must not wait for it.
        opening = await self._make_opening(asked, judged)
        if isinstance(judged.verdict, Deny):
            return await self._refuse(call, opening)
        with (
            self._budgets.take(asked.caller, asked.capability) as place,
            NO_PART if judged.hold is NO_HOLD else self._holding.part(asked, judged, opening) as part,
        ):
            if part is not None:
                opening = call.take_part(part, opening)
            permitted = partial(services.servers.may_ask, asked.capability.server)
            objected = partial(services.judging.objection_while_running, call.asked)
            call.client = ClientQuestions(counterpart, opening, permitted, objected, self._desk, services.screener)
            keep = None if part is None else part.store
            entry = self._ledger.open(opening, partial(services.still_holds, judged, asked.caller, keep))
            try:
                async with entry:
                    await self._work(call, entry)
            except LedgerUnavailable:  # nothing was done, and the entry says so
                pass
            finally:
                if call.client.open_questions:
                    await call.client.wait_until_withdrawn()
                if entry.ended:
                    services.events.publish_end(call.course, opening, judged.pin, entry.outcome)
            outcome = entry.outcome
            # Refused after all, so it costs the caller nothing.
            if outcome.kind is OutcomeKind.REFUSED:
                place.take_off()
        if outcome.kind is OutcomeKind.ANSWERED and outcome.reason is None and call.result is not None:
            return CallResult(opening.entry, outcome, envelope.with_meta(call.result, envelope.BY_SERVER))
        return tell_failure(services, call, opening, outcome)

    async def _work(self, call: OpenCall, entry: Entry) -> None:
        """Do the call, from the stored verdict on, and say in its entry how it ended."""
        asked, services = call.asked, self._services
        call.course.enter(CallStage.JUDGING)
        try:
            # Registered before anything is awaited, so that a block or a revocation finds this call and ends it.
            with RunningCall(services.running_calls, asked.pinned or asked.capability, asked.caller.id) as running:
                ended: Outcome | None = None
                if asked.page is not None:
                    ended = await answer_page(services, call, asked.page, entry)
                elif call.part is not None:
                    ended = await wait_for_approval(services, call, call.part, entry)
                upstream = call.judged.upstream
                if ended is None and upstream is not None and upstream.transport is Transport.OWN:
                    ended = await run_script(services, call, entry, self.run_script) or await self._screen(call)
                entry.outcome = ended or await self._send(call, entry)
                return
            entry.outcome = outcome_when_cut_off(services, call, entry, by_caller=running.by_caller)
        finally:
            call.course.enter(CallStage.RECORDING)

    async def _send(self, call: OpenCall, entry: Entry) -> Outcome:
        asked, server, judging = call.asked, call.asked.capability.server, self._services.judging
        client, fleet = call.client if asked.watcher is None else None, self._services.fleet
        call.course.enter(CallStage.SERVER)  # waiting for a slot there is the server's time too
        try:
            for _ in range(MOST_TRIES):
                turn = fleet.free_turn(server, asked.caller.id, client)
                if turn is None:
                    turn = await fleet.turn(server, PlaceRequest(call.asked.key, asked.caller.id, client))
                with turn:
                    # Waiting for a slot takes time, in which anything may be revoked. Judged once more; nothing is
                    # awaited between this and the permit, or a revocation that comes in between would be overlooked.
                    objection = judging.objection_before_sending(call.asked, call.judged)
                    if objection is None and asked.watcher is not None:
                        await turn.watch(entry.permit(), asked.given.params["uri"], asked.watcher)
                        call.result = {}
                        break
                    if objection is None:
                        call.result = await turn.send(
                            entry.permit(), asked.given.method, asked.given.params, call.client
                        )
                        break
                if objection is not Reason.CAPABILITY_UNCONFIRMED:
                    return Outcome.refusal(objection)
                await self._services.judge_again(call)
                call.course.enter(CallStage.SERVER)
            else:
                return Outcome.refusal(Reason.CAPABILITY_UNCONFIRMED)
        except ServerError as failed:
            call.error = failed.error
        except UNREPLIED as error:
            return outcome_after(error, self._services, call, entry)
        finally:
            # Whatever the server still asks reaches nobody: the closing of the call is about to be written.
            call.client.is_over = True
            call.course.enter(CallStage.SCREENING)
        return await self._screen(call)

    async def _screen(self, call: OpenCall) -> Outcome:
        """Screen what the server answered: it is passed on, changed or withheld."""
        asked, server, is_result = call.asked, call.asked.capability.server, call.error is None
        said = (call.result if is_result else call.error) or {}
        # Of the reply before it is screened: the record shows what the server really said, with secrets masked.
        reply = await self._services.bodies.make_body(server, said)
        kind = OutcomeKind.FAILED if not is_result or said.get("isError") is True else OutcomeKind.ANSWERED
        outcome, passed_on = await self._services.screener.reply(
            server,
            asked.given.method,
            call.judged.pin,
            Outcome(kind, Executed.YES, reply=reply),
            said,
            call.client.notes,
            is_result=is_result,
        )
        call.result, call.error = (passed_on, None) if is_result else (None, passed_on)
        return outcome

    async def _make_opening(self, asked: CallRequest, judged: JudgedCall) -> Opening:
        pin, given, bodies = judged.pin, asked.given, self._services.bodies
        body = await bodies.make_body(asked.capability.server, given.params, given.encoded, given.clear)
        opening = Opening(
            entry=self._new_id(),
            caller=asked.caller,
            capability=asked.capability,
            intent=asked.stated.intent if asked.stated else IMPLIED[judged.effect or Effect.READ],
            face=asked.face,
            verdict=judged.verdict,
            method=given.method,
            effect=judged.effect,
            fingerprint=pin.approved if pin is not None and judged.effect is not None else None,
            rules=judged.rules,
            settings=self._settings,
            client=asked.client,
            peer=asked.peer,
            trace=asked.trace,
            continues=asked.page.of if asked.page else "",
            by=asked.by,
            parent=asked.parent,
            secrets=(*given.found.sure, *given.found.maybe) if given.found else (),
            arguments=body,
        )
        return bodies.mask_texts(opening)

    async def _judge_after_waiting(self, call: OpenCall) -> JudgedCall:
        # A call that waits for a first connection or a listing can be cut off, too.
        asked, judging = call.asked, self._services.judging
        with RunningCall(self._services.running_calls, asked.pinned or asked.capability, asked.caller.id):
            return await judging.judge_confirmed(asked, self._budgets.exhausted_budget, call.course.enter_listing)
        # Cut off while it waited: judged once more, so that the refusal says why. The server may be approved again by
        # now, so the budget is asked about here too.
        return judging.judge(asked, self._budgets.exhausted_budget)

    async def _refuse(self, call: OpenCall, opening: Opening) -> CallResult:
        outcome = await self._ledger.refuse(opening)
        self._services.events.publish_end(call.course, opening, call.judged.pin, outcome)
        return tell_failure(self._services, call, opening, outcome)

    def preview(self, asked: CallRequest) -> JudgedCall:
        """The verdict that this call would get now. Nothing is sent, counted or recorded."""
        return self._services.judging.judge(asked, self._budgets.exhausted_budget)

    def count_handshake(self, caller: Caller) -> int:
        """Count a handshake within the caller's budget. Returns 0, or the seconds after which there is room for one."""
        return self._budgets.count_handshake(caller)

    def stop_asking(self) -> None:
        """End all questions to clients and all waiting for approval, as the guard is about to stop."""
        self._desk.close()
        self._holding.close()
