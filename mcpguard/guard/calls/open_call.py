"""The work of one call while its ledger entry is open: waiting for approval, sending, and receiving the reply.

Rules kept here:
1. What the verdict rests on is compared in the transaction that stores it, and again before the first byte, with no
   await in between.
2. A call that is cut off either was not sent, or is recorded as possibly executed, whatever the server answers later.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mcpguard.domain.asks import QuestionDeclined
from mcpguard.domain.calls.bodies import Body
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.errors import Overtaken
from mcpguard.domain.reasons import Reason
from mcpguard.guard.callers.callers import Callers
from mcpguard.guard.calls.client_questions import ClientQuestions
from mcpguard.guard.calls.judgement import CallJudge, JudgedCall, no_budget
from mcpguard.guard.calls.kept_bodies import KeptBodies
from mcpguard.guard.calls.request import CallRequest, ReplyPage
from mcpguard.guard.calls.sandbox_hints import hint_after_end
from mcpguard.guard.calls.screening import Screener, ServerReply
from mcpguard.guard.calls.subject import CallSubject
from mcpguard.guard.calls.waiting_call import HoldPart
from mcpguard.guard.servers.running_calls import RunningCalls
from mcpguard.guard.servers.servers import Servers
from mcpguard.guard.traffic.events import CallCourse, CallEvents, CallStage
from mcpguard.ledger.entries import Entry, unconditionally
from mcpguard.store.engine.backend import Connection
from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.exchange.endings import Unsent
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.call_slots import Busy
from mcpguard.upstreams.protocol.calls_in_flight import Overdue
from mcpguard.upstreams.supervise.fleet import Fleet, PlaceRequest, Turn, Unreachable
from mcpguard.upstreams.supervise.succession import Unsettling

if TYPE_CHECKING:
    from mcpguard.domain.calls.objections import Detail

MOST_TRIES = 3
"""How often a call is judged again, or waits for a listing again, before it is refused."""


@dataclass(frozen=True, slots=True)
class CallServices:
    """The parts of the guard that every call works with."""

    servers: Servers
    callers: Callers
    judging: CallJudge
    fleet: Fleet
    running_calls: RunningCalls
    bodies: KeptBodies
    screener: Screener
    events: CallEvents

    async def catch_up(self, server: str) -> None:
        """Read this server and the callers from the store, which was found to be ahead of memory."""
        await self.servers.catch_up(server)
        await self.callers.catch_up()


class OpenCall:
    """One judged call on its way. The server asks the client through `client`; `part` is its part in a hold, if any.

    When the work has ended there is the server's `result`, or its `error`, or a `detail` to be told beside a reason.
    """

    def __init__(
        self,
        services: CallServices,
        asked: CallRequest,
        subject: CallSubject,
        judged: JudgedCall,
        client: ClientQuestions,
        part: HoldPart | None,
        course: CallCourse,
    ) -> None:
        self.result: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self.detail: Detail | None = None
        self._services = services
        self._asked = asked
        self._subject = subject
        self._judged = judged
        self._client = client
        self._part = part
        self._course = course

    def confirm_in_store(self, connection: Connection) -> bool:
        """Tell whether the verdict still holds in the transaction that stores the opening. Stores what becomes of a
        hold, too."""
        return self._rests(self._judged, connection) and (self._part is None or self._part.store(connection))

    async def work(self, entry: Entry) -> Outcome:
        """Do the call, from the stored verdict on. Returns how it ended."""
        asked, subject = self._asked, self._subject
        self._course.enter(CallStage.JUDGING)
        try:
            # Registered before anything is awaited, so that a block or a revocation finds this call and ends it.
            with self._services.running_calls.call(asked.capability.server, subject.key, asked.caller.id) as call:
                if asked.page is not None:
                    return await self._answer_page(entry, asked.page)
                if self._part is not None:
                    ended = await self._wait_for_approval(entry, self._part)
                    if ended is not None:
                        return ended
                return await self._screen(await self._send(entry))
            return self._end_cut_off(entry, by_caller=call.by_caller)
        finally:
            self._course.enter(CallStage.RECORDING)

    async def _screen(self, outcome: Outcome) -> Outcome:
        """Screen what the server answered: it is passed on, changed or withheld."""
        asked, notes, said = self._asked, self._client.notes, ServerReply(self.result, self.error)
        server, method = asked.capability.server, asked.method
        screened = await self._services.screener.reply(server, method, self._judged.pin, outcome, said)
        self.result, self.error = screened.reply.result, screened.reply.error
        notes.add(screened.looked)
        return notes.in_outcome(replace(outcome, reason=screened.reason) if screened.reason else outcome, screened.mode)

    def _rests(self, judged: JudgedCall, connection: Connection) -> bool:
        return judged.holds_in_store(connection) and self._services.callers.holds_in_store(
            connection, self._asked.caller
        )

    async def _wait_for_approval(self, entry: Entry, part: HoldPart) -> Outcome | None:
        """Wait for approval, if it is needed. Returns how the call ends without it; None if it may be sent."""
        part.begin()
        if self._judged.reason is None:
            return None
        self._course.enter(CallStage.PERSON)
        ended = await part.wait_for_answer(self._client)
        self._course.enter(CallStage.JUDGING)
        if ended is not None:
            outcome, self.detail = ended
            return outcome
        try:
            return await self._release_hold(entry, part)
        finally:
            # Also where the client hangs up between the answer and the verdict: the approval is not lost.
            part.give_back()

    async def _release_hold(self, entry: Entry, part: HoldPart) -> Outcome | None:
        """Judge a call that was approved again, and use the approval up together with that verdict."""
        for _ in range(MOST_TRIES):
            self._judged = judged = await self._judge_again()
            self._course.enter(CallStage.RECORDING)
            if judged.reason is not None:
                await entry.release(judged.verdict, unconditionally)
                return Outcome.refusal(judged.reason)
            try:
                await entry.release(judged.verdict, partial(self._use_up, judged, part))
            except Overtaken:
                await self._services.catch_up(self._asked.capability.server)
            else:
                part.mark_used()
                return None
        await entry.release(Deny(Reason.CAPABILITY_CHANGED), unconditionally)  # it changes faster than it can be judged
        return Outcome.refusal(Reason.CAPABILITY_CHANGED)

    async def _judge_again(self) -> JudgedCall:
        judged = await self._services.judging.judge_confirmed(self._subject, no_budget, self._course.enter_listing)
        self._course.enter(CallStage.JUDGING)
        return judged

    def _use_up(self, judged: JudgedCall, part: HoldPart, connection: Connection) -> bool:
        return self._rests(judged, connection) and part.use_up(connection)

    async def _send(self, entry: Entry) -> Outcome:
        judging, subject, server = self._services.judging, self._subject, self._asked.capability.server
        client = self._client if self._asked.watcher is None else None
        self._course.enter(CallStage.SERVER)  # waiting for a place there is the server's time too
        try:
            reason = Reason.CAPABILITY_UNCONFIRMED
            for _ in range(MOST_TRIES):
                async with self._services.fleet.turn(
                    server, PlaceRequest(subject.key, subject.caller.id, client)
                ) as turn:
                    turn.reachable()
                    # Waiting for a place takes time, in which anything may be revoked. Asked once more, with nothing
                    # awaited after it.
                    objection = judging.objection_before_sending(subject, self._judged)
                    if objection is None:
                        return await self._exchange(turn, entry)
                    reason = objection
                if reason is not Reason.CAPABILITY_UNCONFIRMED:
                    break
                await self._judge_again()
                self._course.enter(CallStage.SERVER)
        except (Busy, Unsettling, Unreachable) as error:
            return Outcome.refusal(judging.objection_while_running(subject) or _reason(error))
        finally:
            # Whatever the server still asks reaches nobody: the closing of the call is about to be written.
            self._client.end()
        return Outcome.refusal(reason)

    async def _exchange(self, turn: Turn, entry: Entry) -> Outcome:
        """Send the call and return how it ended. Nothing is awaited between the last objection and the permit: a
        revocation that comes in between would be overlooked."""
        asked, result = self._asked, dict[str, Any]()
        try:
            if asked.watcher is None:
                result = await turn.send(entry.permit(), asked.method, asked.params, self._client)
            else:
                await turn.watch(entry.permit(), asked.params["uri"], asked.watcher)
        except Unsent:
            # The transport is certain that no byte has left, so this may be recorded as not executed.
            entry.mark_unsent()
            return Outcome.refusal(Reason.SERVER_UNREACHABLE)
        except (Overdue, TransportEnded, QuestionDeclined) as error:
            known = self._services.servers.find(asked.capability.server)
            if known is not None and isinstance(error, TransportEnded):
                self.detail = hint_after_end(str(error), known.declared.launch)
            return Outcome.unknown(_reason(error))
        except ServerError as failed:
            self.error = failed.error
        finally:
            self._course.enter(CallStage.SCREENING)
        if self.error is not None:
            return Outcome.failure(await self._body_of(self.error))
        self.result = result
        # Of the reply before it is screened: the record shows what the server really said, with secrets masked.
        reply = await self._body_of(result)
        return Outcome.failure(reply) if result.get("isError") is True else Outcome.answer(reply)

    async def _answer_page(self, entry: Entry, page: ReplyPage) -> Outcome:
        """Answer with a page of an earlier reply, if this caller may still call what it came from. Nothing is sent."""
        objection = self._services.judging.objection_before_sending(self._subject, self._judged)
        if objection is not None:
            return Outcome.refusal(objection)
        entry.permit()
        self.result = dict(page.result)
        return Outcome.answer(await self._body_of(self.result))

    async def _body_of(self, said: dict[str, Any]) -> Body:
        return await self._services.bodies.make_body(self._asked.capability.server, said)

    def _end_cut_off(self, entry: Entry, *, by_caller: bool) -> Outcome:
        """How a call ends that is cut off, because what it calls is no longer approved or its caller was revoked. Once
        it was sent it may have been executed, whatever the server answers now."""
        # With a permit bytes may have left. Then nobody can say any more that nothing was executed.
        if entry.permitted:
            return Outcome.unknown(Reason.CALLER_REVOKED if by_caller else Reason.CAPABILITY_WITHDRAWN)
        why = Reason.CALLER_REVOKED if by_caller else Reason.CAPABILITY_CHANGED
        return Outcome.refusal(self._services.judging.judge(self._subject, exhausted=None).reason or why)


def _reason(error: Exception) -> Reason:
    match error:
        case QuestionDeclined(reason=reason):
            return reason
        case Busy():
            return Reason.SERVER_BUSY
        case Unsettling():
            return Reason.BUDGET_CONNECTIONS
        case Overdue():
            return Reason.REPLY_TIMEOUT
        case TransportEnded():
            return Reason.SERVER_LOST
        case _:
            return Reason.SERVER_UNREACHABLE
