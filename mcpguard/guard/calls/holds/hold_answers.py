"""Answers of reviewers to held calls, and the end of holds that nobody answers.

Rules kept here:
1. An answer is one transaction with its record, which names the ticket. An actor that may only tighten protection may
   deny, but not allow.
2. A denial takes effect before it is stored; an approval after.
3. An approval is stale, and allows nothing, if its subject has changed since the call was made.
4. An expired hold cannot be answered, whatever the store still contains.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

import anyio
import structlog

from mcpguard.domain.calls.holds import HeldCall, HoldMove, HoldState, state_after
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.decisions import Answer, Decision, Stale
from mcpguard.domain.errors import IllegalMove, LedgerUnavailable
from mcpguard.guard.callers.callers import Callers
from mcpguard.guard.calls.holds.open_holds import LIVE, Ticket, Tickets, is_unchanged
from mcpguard.guard.people.users import require_reason
from mcpguard.guard.servers import facts
from mcpguard.guard.servers.publisher import Publisher
from mcpguard.guard.servers.registry import Registry
from mcpguard.guard.traffic.wake import WakeTimer
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.policy.secrets.masking import mask_secrets
from mcpguard.settings.call_groups import Holds
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.readers import Readers
from mcpguard.store.rows import generations, holds

AlsoStored = Callable[[Connection, Append], None]
"""What is stored in the transaction of an answer, beside it."""
RETRY_US: Final = 1_000_000
CHANGED: Final = ("the tool or its server changed after the call was made",)
log = structlog.get_logger("mcpguard.guard")


class HoldAnswers:
    """Allows, denies and expires held calls."""

    def __init__(
        self,
        tickets: Tickets,
        registry: Registry,
        publisher: Publisher,
        callers: Callers,
        ledger: Ledger,
        clock: Clock,
        new_id: Ids,
        settings: Holds,
    ) -> None:
        self.tickets = tickets
        self._registry = registry
        self._publisher = publisher
        self._callers = callers
        self._ledger = ledger
        self._clock = clock
        self._new_id = new_id
        self._settings = settings
        self._waking = WakeTimer(clock)
        self._answering = anyio.Lock()

    async def load(self, readers: Readers) -> None:
        """Read the holds from the store: what was held before a restart can still be answered."""
        for hold in await readers.run(holds.list_holds):
            self.tickets.add(Ticket(hold))

    def note_held(self, ticket: Ticket) -> None:
        """Show a new hold to reviewers, now that the store has it."""
        ticket.stored = True
        self._waking.wake()
        log.info("call.held", ticket=ticket.hold.id, caller=ticket.hold.asking.caller_label)

    async def allow(
        self, id_: str, decision: Decision, also: Callable[[HeldCall], AlsoStored] | None = None
    ) -> HeldCall:
        """Allow the call to be made once. `also`: returns what is stored beside that.

        Raises Unknown, Forbidden, Undecidable, IllegalMove, Stale or LedgerUnavailable; then nothing has changed."""
        decision.by.check_widening()
        require_reason(decision)
        with anyio.CancelScope(shield=True):
            async with self._answering:
                decision.by.check()
                ticket = self._open(id_)
                before, now = ticket.hold, self._answered(ticket.hold, HoldMove.ALLOW, decision)
                # Stored before it is in force: an approval that could not be recorded must let nothing through.
                await self._kept(before, now, Answer.ALLOW, decision, also(before) if also else None)
                ticket.become(now)
        self._waking.wake()
        return now

    async def deny(self, id_: str, decision: Decision) -> HeldCall:
        """Refuse the call, and the same one for a while. Also revokes an approval that was not used yet.

        Raises Unknown, Undecidable, IllegalMove or LedgerUnavailable; then nothing has changed."""
        require_reason(decision)
        with anyio.CancelScope(shield=True):
            async with self._answering:
                decision.by.check()
                ticket = self._open(id_)
                before, now = ticket.hold, self._answered(ticket.hold, HoldMove.DENY, decision)
                # In force before it is stored: no call may use an approval while its denial is being written.
                ticket.hold = now
                done = False
                try:
                    await self._kept(before, now, Answer.DENY, decision)
                    done = True
                finally:
                    if not done:
                        ticket.hold = before
                ticket.wake()
        self._waking.wake()
        return now

    def every(self) -> list[HeldCall]:
        """The holds that can be answered or used, and those that were denied lately, the oldest first."""
        return [each.hold for each in self.tickets if each.is_shown]

    def get(self, id_: str) -> HeldCall:
        """The held call with this ticket. Raises Unknown."""
        return self.tickets.get(id_).hold

    async def end(self, ticket: Ticket, move: HoldMove) -> None:
        """End a hold that has not ended yet. Where that cannot be recorded now, it is recorded later."""
        async with self._answering:
            if ticket.owed is None:
                before = ticket.hold
                try:
                    ticket.become(replace(before, state=state_after(before.state, move)))
                except IllegalMove:
                    return
                # The hold has ended for every call from here on, even if the ledger is down: the record is owed.
                ticket.owed = before.state, move
            await self._settle(ticket, *ticket.owed)

    async def run(self) -> None:
        """End holds that expired, whose caller was revoked, or whose server or capability has changed."""
        with self._publisher.subscription(self._look_again), self._callers.subscription(self._look_again):
            while True:
                # Reset before looking: a change during the sweep ends the sleep after it at once.
                self._waking.reset()
                await self._waking.sleep_until(await self._sweep())

    async def _sweep(self) -> int | None:
        """End what is due. Returns when something is due next, as far as that is known."""
        now, times = self._clock.now(), list[int]()
        for ticket in self.tickets:
            move = ticket.owed[1] if ticket.owed else self._due(ticket.hold)
            if move is not None:
                await self.end(ticket, move)
            elif ticket.state is HoldState.DENIED and ticket.hold.until <= now:
                await self._forget(ticket)
            elif ticket.state in LIVE:
                times.append(ticket.hold.until)
            if ticket.owed is not None:
                times.append(now + RETRY_US)
        return min(times, default=None)

    def _look_again(self, _: object) -> None:
        """Sweep again: something has changed that a hold may depend on."""
        self._waking.wake()

    def _open(self, id_: str) -> Ticket:
        ticket = self.tickets.get(id_)
        if ticket.hold.until <= self._clock.now():
            raise IllegalMove("this held call expired without an answer and was refused")
        return ticket

    def _answered(self, hold: HeldCall, move: HoldMove, decision: Decision) -> HeldCall:
        """The hold as it is after an answer. Raises IllegalMove."""
        state = state_after(hold.state, move)
        seconds = self._settings.allowed_seconds if move is HoldMove.ALLOW else self._settings.life_seconds
        until = self._clock.now() + round(seconds * 1e6)
        return replace(
            hold, state=state, until=until, why=mask_secrets(decision.why, maybe=True).value, by=decision.by.id
        )

    async def _kept(
        self, before: HeldCall, now: HeldCall, answer: Answer, decision: Decision, also: AlsoStored | None = None
    ) -> None:
        fact = facts.hold_answer(now, before.state, answer, decision, self._new_id())

        def keep(connection: Connection, append: Append) -> None:
            # In the transaction itself: memory may not know yet that the server or the capability has changed.
            if answer is Answer.ALLOW and not generations.are_current(connection, now.rests.upstream, now.rests.pin):
                raise Stale(CHANGED)
            # Only from the state that was seen: of two answers, or of an answer and a use, the store lets one through.
            if not holds.move(connection, before.state, now):
                raise IllegalMove("this call was sent, or ended, before your answer")
            append(fact.kind, fact.fields)
            if also is not None:
                also(connection, append)

        await self._ledger.transact(keep)
        log.info("call.answered", ticket=now.id, answer=answer.value, by=decision.by.id)

    def _due(self, hold: HeldCall) -> HoldMove | None:
        """The move that a hold has to make by itself now, if any."""
        if hold.state not in (HoldState.WAITING, HoldState.ALLOWED):
            return None
        if hold.until <= self._clock.now():
            return HoldMove.EXPIRE
        unchanged = is_unchanged(self._registry, hold.capability.server, hold.rests)
        return None if unchanged and self._callers.holds(hold.caller) else HoldMove.VOID

    async def _settle(self, ticket: Ticket, before: HoldState, move: HoldMove) -> None:
        fact = facts.hold_move(ticket.hold, before, move)

        def end(connection: Connection, append: Append) -> None:
            if holds.end(connection, ticket.hold.id, before):
                append(fact.kind, fact.fields)

        try:
            await self._ledger.transact(end)
        except LedgerUnavailable:
            return  # the next sweep tries again
        ticket.owed = None
        self.tickets.drop(ticket)

    async def _forget(self, ticket: Ticket) -> None:
        """Forget an old denial, so that the same call is held anew. The answer itself was recorded."""
        id_ = ticket.hold.id
        self.tickets.drop(ticket)
        with suppress(LedgerUnavailable):  # then the next start finds it over
            await self._ledger.transact(lambda connection, _: holds.end(connection, id_, HoldState.DENIED))
