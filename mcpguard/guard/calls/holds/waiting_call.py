"""A call that is held for approval: its wait, and its use of the answer.

Rules kept here:
1. A new hold and the opening of the call that began it are one transaction. So are the use of an approval and the
   verdict that allows the call.
2. A call waits for a limited time and reports progress to its client. Then the client is told to come back; the same
   call, made again, waits on the same hold or uses its answer.
3. A hold is withdrawn only when a client disconnects while it waits, and no other client waits for the answer.
4. When the guard stops, waiting clients are told to come back. The holds stay.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from enum import Enum
from typing import Final

import anyio

from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.calls.holds import HeldCall, HeldFacts, HoldMove, HoldState
from mcpguard.domain.calls.objections import NOTHING_MORE, Detail
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.calls.verdicts import Allow, Hold
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import Overtaken
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.holds.allowed_part import AllowedPart
from mcpguard.guard.calls.holds.hold_answers import HoldAnswers
from mcpguard.guard.calls.holds.hold_rules import HoldRules
from mcpguard.guard.calls.holds.open_holds import Ticket, rests
from mcpguard.guard.calls.judgement import JudgedCall
from mcpguard.guard.calls.request import CallSubject
from mcpguard.settings.call_groups import Holds
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import holds

PROGRESS_SECONDS: Final = 5.0
WAITS: Final = "The call is held for approval."
_STEP: Final = 1e-6
"""Progress must grow, and a server that works on the call later begins with what it likes, mostly 0 or 1."""


class HoldWay(Enum):
    """How a call takes part in a hold: it begins one, joins one, or uses an approval."""

    BEGINS = "begins"
    JOINS = "joins"
    USES = "uses"


class WaitingCalls:
    """Holds calls, and lets their clients wait for the answer."""

    def __init__(self, demanding: HoldRules, answering: HoldAnswers, clock: Clock, settings: Holds) -> None:
        self.demanding = demanding
        self.answering = answering
        self._tickets = demanding.tickets
        self._clock = clock
        self._settings = settings
        self._closing = False

    @contextmanager
    def part(self, subject: CallSubject, judged: JudgedCall, opening: Opening) -> Iterator["CallPart | None"]:
        """The call's part in a hold or an allowance, None where it has none.

        Raises Overtaken where another call was faster: the two were judged before either came here.
        """
        part = self._part(subject, judged, opening)
        try:
            yield part
        finally:
            # The opening was overtaken, or could not be stored.
            if part is not None and not part.has_begun:
                part.undo()

    def _part(self, subject: CallSubject, judged: JudgedCall, opening: Opening) -> "CallPart | None":
        ticket, allowance = judged.hold.ticket, judged.hold.allowance
        match judged.verdict:
            case Hold():
                if ticket is not None:
                    return HoldPart(self, ticket, HoldWay.JOINS)
                self._check_first(subject, judged)
                # In memory before it is stored: the same call, made again at once, joins this hold and begins no
                # second one.
                ticket = Ticket(self._held(subject, judged, opening), stored=False)
                self._tickets.add(ticket)
                return HoldPart(self, ticket, HoldWay.BEGINS)
            case Allow() if ticket is not None:
                if ticket.state is not HoldState.ALLOWED:
                    raise Overtaken
                # Taken before the transaction: of two calls only one may use the approval. `undo` gives it back.
                ticket.move(HoldState.CONSUMED)
                return HoldPart(self, ticket, HoldWay.USES)
            case Allow() if allowance is not None:
                if not allowance.take():
                    raise Overtaken
                return AllowedPart(self.demanding.allowances, allowance)
            case _:
                return None

    def _check_first(self, subject: CallSubject, judged: JudgedCall) -> None:
        upstream = judged.upstream
        if upstream is None or self._tickets.find(
            self.demanding.same_call(subject, judged.pin), rests(upstream, judged.pin)
        ):
            raise Overtaken

    def close(self) -> None:
        """Wake every waiting client: the guard is about to stop."""
        self._closing = True
        for ticket in self._tickets:
            ticket.wake()

    def forget(self, ticket: Ticket) -> None:
        """Drop a hold that was used or never stored."""
        self._tickets.drop(ticket)

    async def wait_for_answer(self, ticket: Ticket, client: Counterpart) -> None:
        """Wait until a reviewer has answered, or until the client has waited long enough."""
        awake = anyio.Event()
        ticket.waiters.add(awake)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._patience, client, awake, name="a client that waits for a person")
                if ticket.state is HoldState.WAITING and not self._closing:
                    await awake.wait()
                tasks.cancel_scope.cancel()
        except anyio.get_cancelled_exc_class():
            ticket.waiters.discard(awake)
            # The last client has gone, so nobody could use an answer. At a stop clients come back: then the hold stays.
            if not ticket.waiters and not self._closing:
                # This task is cancelled, as its client is gone; that the question was withdrawn must still be recorded.
                with anyio.CancelScope(shield=True):
                    await self.answering.end(ticket, HoldMove.WITHDRAW)
            raise
        finally:
            ticket.waiters.discard(awake)

    async def _patience(self, client: Counterpart, awake: anyio.Event) -> None:
        waited = 0.0
        while waited < self._settings.wait_seconds:
            # Keeps clients from giving up that reset their timeout when they hear of progress.
            client.progress({"progress": waited * _STEP, "message": WAITS})
            nap = min(PROGRESS_SECONDS, self._settings.wait_seconds - waited)
            await self._clock.sleep(nap)
            waited += nap
        awake.set()

    def _held(self, subject: CallSubject, judged: JudgedCall, opening: Opening) -> HeldCall:
        if judged.upstream is None:
            raise ValueError("a call to no server is not held")
        now, intent = self._clock.now(), opening.intent
        parts = self._tickets.parts(subject, judged.pin.approved if judged.pin else None)
        asking = HeldFacts(
            at=now,
            caller_label=opening.caller.label,
            client=opening.client,
            face=opening.face.value,
            method=opening.method,
            effect=(judged.effect or Effect.READ).value,
            fingerprint=opening.fingerprint.text if opening.fingerprint else "",
            operation=intent.operation.value,
            declared=intent.declared,
            sensitivity=intent.sensitivity.value,
            agent_says=intent.reason,
            because=judged.hold.demand,
            run=opening.parent,
            program=subject.program,
            arguments=parts.same.arguments if parts else None,
            rest=parts.same.rest if parts else "",
            free_texts=parts.free_texts if parts else (),
        )
        return HeldCall(
            opening.entry,
            HoldState.WAITING,
            self.demanding.same_call(subject, judged.pin),
            opening.caller.id,
            opening.capability,
            rests(judged.upstream, judged.pin),
            now + round(self._settings.life_seconds * 1e6),
            asking,
        )


class HoldPart:
    """One call's part in a hold. `has_begun`: whether the store has the verdict that speaks of it."""

    def __init__(self, of: WaitingCalls, ticket: Ticket, way: HoldWay) -> None:
        self.id = ticket.hold.id
        self.has_begun = False
        self._is_used = False
        self._of = of
        self._ticket = ticket
        self._way = way

    def named_in(self, opening: Opening) -> Opening:
        """Return the opening with the ticket."""
        return replace(opening, ticket=self.id)

    def store(self, connection: Connection) -> bool:
        """Store a new hold, or use up an approval, in the transaction of the opening. Returns whether that was
        possible."""
        match self._way:
            case HoldWay.BEGINS:
                holds.put(connection, self._ticket.hold)
                return True
            case HoldWay.JOINS:
                return True
            case HoldWay.USES:
                return self.use_up(connection)

    def use_up(self, connection: Connection) -> bool:
        """Use up the approval in the transaction of the verdict that allows the call. Returns whether it was still
        there."""
        return holds.end(connection, self.id, HoldState.ALLOWED)

    def begin(self) -> None:
        """Take note that the opening was stored."""
        self.has_begun = True
        if self._way is HoldWay.USES:
            self.mark_used()
        elif self._way is HoldWay.BEGINS:
            self._of.answering.note_held(self._ticket)

    def undo(self) -> None:
        """Undo this part, as the opening was not stored."""
        match self._way:
            case HoldWay.BEGINS:
                self._of.forget(self._ticket)
                self._ticket.move(HoldState.EXPIRED)
            case HoldWay.USES:
                self.give_back()
            case HoldWay.JOINS:
                pass

    def mark_used(self) -> None:
        """Take note that the store has the approval as used."""
        self._is_used = True
        self._of.forget(self._ticket)

    def give_back(self) -> None:
        """Give back an approval that was not used after all. Whatever else became of it meanwhile stays."""
        if not self._is_used and self._ticket.state is HoldState.CONSUMED:
            self._ticket.move(HoldState.ALLOWED)

    async def wait_for_answer(self, client: Counterpart) -> tuple[Outcome, Detail] | None:
        """Wait for the answer. Returns how the call ends; None if it may be sent now, and no other call may use
        that."""
        await self._of.wait_for_answer(self._ticket, client)
        hold = self._ticket.hold
        match hold.state:
            case HoldState.ALLOWED:
                # No await between the answer and this: of two clients that wait for one approval, one gets it.
                self._ticket.move(HoldState.CONSUMED)
                return None
            case HoldState.WAITING:
                until = f"{datetime.fromtimestamp(hold.until / 1e6, UTC):%H:%M:%S} UTC"
                return Outcome.hold(Reason.HOLD_WAITING), Detail(ticket=hold.id, until=until)
            case HoldState.DENIED:
                return Outcome.refusal(Reason.HOLD_DENIED), Detail(person=hold.why)
            case HoldState.CONSUMED:
                return Outcome.refusal(Reason.HOLD_USED), NOTHING_MORE
            case HoldState.EXPIRED | HoldState.WITHDRAWN:
                return Outcome.refusal(Reason.HOLD_EXPIRED), NOTHING_MORE


CallPart = HoldPart | AllowedPart
"""What a call that needs approval takes part in."""
