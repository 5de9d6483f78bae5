"""A call that a person must allow: how it waits, and how it uses what they answered.

Rules kept here:
1. A hold and the opening of the call that it began with are one transaction. So are the use of an allowed one and the
   verdict that allows the call.
2. A call waits for a while, and its client hears that it does. Then the client is told to come back; the same call,
   made again, waits on the same hold or uses what became of it.
3. Only a client that goes away while it waits takes the question back, and only if nobody else waits for the answer.
4. When the guard stops, whoever waits is told to come back. What was asked stays asked.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import Enum
from typing import Final

import anyio

from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.calls.holds import HeldCall as Held
from mcpguard.domain.calls.holds import HeldFacts, HoldMove, HoldState
from mcpguard.domain.calls.objections import NOTHING_MORE, Detail
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.calls.verdicts import Allow, Hold
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import Overtaken
from mcpguard.domain.reasons import Reason
from mcpguard.guard.calls.hold_answers import Answering
from mcpguard.guard.calls.hold_rules import Demanding
from mcpguard.guard.calls.judgement import Judged
from mcpguard.guard.calls.open_holds import Ticket, rests
from mcpguard.guard.calls.subject import CallSubject
from mcpguard.settings.call_groups import Holds
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import holds

PROGRESS_SECONDS: Final = 5.0
WAITS: Final = "The call waits for a person to allow it."
_STEP: Final = 1e-6
"""Progress must grow, and a server that works on the call later begins with what it likes, mostly 0 or 1."""


class HoldWay(Enum):
    """What a call has to do with a hold."""

    BEGINS = "begins"
    JOINS = "joins"
    USES = "uses"


class Holding:
    """Holds calls."""

    def __init__(self, demanding: Demanding, answering: Answering, clock: Clock, settings: Holds) -> None:
        self.demanding = demanding
        self.answering = answering
        self._tickets = demanding.tickets
        self._clock = clock
        self._settings = settings
        self._closing = False

    @contextmanager
    def part(self, subject: CallSubject, judged: Judged, opening: Opening) -> Iterator["HoldPart | None"]:
        """What a call has to do with a hold; None where that is nothing.

        Raises Overtaken where another call was faster: the two were judged before either came here.
        """
        ticket = judged.look.ticket
        match judged.verdict:
            case Hold():
                way = HoldWay.BEGINS if ticket is None else HoldWay.JOINS
                if ticket is None:
                    self._check_first(subject, judged)
                    ticket = Ticket(self._held(subject, judged, opening), stored=False)
                    self._tickets.add(ticket)
            case Allow() if ticket is not None:
                way = HoldWay.USES
                if ticket.state is not HoldState.ALLOWED:
                    raise Overtaken
                ticket.move(HoldState.CONSUMED)
            case _:
                yield None
                return
        part = HoldPart(self, ticket, way)
        try:
            yield part
        finally:
            if not part.begun:
                part.undo()

    def _check_first(self, subject: CallSubject, judged: Judged) -> None:
        upstream = judged.upstream
        if upstream is None or self._tickets.find(
            self.demanding.same(subject, judged.pin), rests(upstream, judged.pin)
        ):
            raise Overtaken

    def close(self) -> None:
        """Nobody waits for a person any more."""
        self._closing = True
        for ticket in self._tickets:
            ticket.wake()

    def used(self, ticket: Ticket) -> None:
        """It was, and the store knows."""
        self._tickets.drop(ticket)

    async def answer(self, ticket: Ticket, client: Counterpart) -> None:
        """Until a person has answered, or patience is over."""
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
            if not ticket.waiters and not self._closing:
                with anyio.CancelScope(shield=True):
                    await self.answering.over(ticket, HoldMove.WITHDRAW)
            raise
        finally:
            ticket.waiters.discard(awake)

    async def _patience(self, client: Counterpart, awake: anyio.Event) -> None:
        waited = 0.0
        while waited < self._settings.wait_seconds:
            client.progress({"progress": waited * _STEP, "message": WAITS})
            nap = min(PROGRESS_SECONDS, self._settings.wait_seconds - waited)
            await self._clock.sleep(nap)
            waited += nap
        awake.set()

    def _held(self, subject: CallSubject, judged: Judged, opening: Opening) -> Held:
        if judged.upstream is None:
            raise ValueError("a call to no server is not held")
        now, intent = self._clock.now(), opening.intent
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
            because=judged.look.demand,
        )
        return Held(
            opening.entry,
            HoldState.WAITING,
            self.demanding.same(subject, judged.pin),
            opening.caller.id,
            opening.capability,
            rests(judged.upstream, judged.pin),
            now + round(self._settings.life_seconds * 1e6),
            asking,
        )


class HoldPart:
    """What one call has to do with a hold. `begun`: the store has the verdict that speaks of it."""

    def __init__(self, of: Holding, ticket: Ticket, way: HoldWay) -> None:
        self.id = ticket.hold.id
        self.begun = False
        self._is_used = False
        self._of = of
        self._ticket = ticket
        self._way = way

    def store(self, connection: Connection) -> bool:
        """Together with the opening: a new hold is kept, an allowed one is used up. Whether that could be."""
        match self._way:
            case HoldWay.BEGINS:
                holds.put(connection, self._ticket.hold)
                return True
            case HoldWay.JOINS:
                return True
            case HoldWay.USES:
                return self.use_up(connection)

    def use_up(self, connection: Connection) -> bool:
        """Together with the verdict that allows the call."""
        return holds.end(connection, self.id, HoldState.ALLOWED)

    def begin(self) -> None:
        """The opening was stored."""
        self.begun = True
        if self._way is HoldWay.USES:
            self.used()
        elif self._way is HoldWay.BEGINS:
            self._of.answering.begun(self._ticket)

    def undo(self) -> None:
        """It was not."""
        match self._way:
            case HoldWay.BEGINS:
                self._of.used(self._ticket)
                self._ticket.move(HoldState.EXPIRED)
            case HoldWay.USES:
                self.give_back()
            case HoldWay.JOINS:
                pass

    def used(self) -> None:
        """The store knows that it was."""
        self._is_used = True
        self._of.used(self._ticket)

    def give_back(self) -> None:
        """It was not used after all. What became of it meanwhile stays."""
        if not self._is_used and self._ticket.state is HoldState.CONSUMED:
            self._ticket.move(HoldState.ALLOWED)

    async def answered(self, client: Counterpart) -> tuple[Outcome, Detail] | None:
        """How the call ends that waited. None if it may be made now, which nobody else may from here on."""
        await self._of.answer(self._ticket, client)
        hold = self._ticket.hold
        match hold.state:
            case HoldState.ALLOWED:
                self._ticket.move(HoldState.CONSUMED)
                return None
            case HoldState.WAITING:
                until = f"{datetime.fromtimestamp(hold.until / 1e6, UTC):%H:%M:%S} UTC"
                return Outcome.held(Reason.HOLD_WAITING), Detail(ticket=hold.id, until=until)
            case HoldState.DENIED:
                return Outcome.refused(Reason.HOLD_DENIED), Detail(person=hold.why)
            case HoldState.CONSUMED:
                return Outcome.refused(Reason.HOLD_USED), NOTHING_MORE
            case HoldState.EXPIRED | HoldState.WITHDRAWN:
                return Outcome.refused(Reason.HOLD_EXPIRED), NOTHING_MORE
