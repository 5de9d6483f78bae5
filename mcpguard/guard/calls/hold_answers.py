"""What people answer to held calls, and how a hold ends that nobody answers.

Rules kept here:
1. An answer is one transaction with its record, which names the ticket. Who may only tighten may deny and not allow.
2. What takes something away is in force before it is stored; what allows is stored first.
3. An answer to something that has changed since it was asked is stale, and allows nothing.
4. Nobody's answer reaches a hold whose time is over, whatever the store still has.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Final

import anyio
import structlog

from mcpguard.domain.calls.holds import HeldCall, HoldMove, HoldState, moved
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.decisions import LONGEST_WHY, Answer, Decision, Stale, Undecidable
from mcpguard.domain.errors import IllegalMove, LedgerUnavailable
from mcpguard.guard.callers.callers import Callers
from mcpguard.guard.calls.open_holds import LIVE, Ticket, Tickets
from mcpguard.guard.servers import facts
from mcpguard.guard.servers.publisher import Publisher
from mcpguard.guard.servers.registry import Registry
from mcpguard.guard.traffic.wake import Waking
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.policy.secrets.masking import masked
from mcpguard.settings.call_groups import Holds
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.readers import Readers
from mcpguard.store.rows import generations, holds

RETRY_US: Final = 1_000_000
CHANGED: Final = ("what was called is not as it was when the call was made",)
log = structlog.get_logger("mcpguard.guard")


class Answering:
    """Answers held calls, and ends them."""

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
        self._waking = Waking(clock)
        self._answering = anyio.Lock()

    async def load(self, readers: Readers) -> None:
        """Know what the store has: what was asked before a restart can still be answered."""
        for hold in await readers.run(holds.every):
            self.tickets.add(Ticket(hold))

    def begun(self, ticket: Ticket) -> None:
        """One more waits for a person, and the store has it."""
        ticket.stored = True
        self._waking.changed()
        log.info("call.held", ticket=ticket.hold.id, caller=ticket.hold.asking.caller_label)

    async def allow(self, id_: str, decision: Decision) -> HeldCall:
        """The call may be made, once. Raises Unknown, Forbidden, Undecidable, IllegalMove, Stale or LedgerUnavailable,
        and has changed nothing then."""
        decision.by.check_widening()
        _check(decision)
        with anyio.CancelScope(shield=True):
            async with self._answering:
                decision.by.check()
                ticket = self._open(id_)
                before, now = ticket.hold, self._answered(ticket.hold, HoldMove.ALLOW, decision)
                await self._kept(before, now, Answer.ALLOW, decision)
                ticket.become(now)
        self._waking.changed()
        return now

    async def deny(self, id_: str, decision: Decision) -> HeldCall:
        """The call is refused, and so is the same one for a while. Also takes back what was allowed and not yet used.
        Raises Unknown, Undecidable, IllegalMove or LedgerUnavailable, and has changed nothing then."""
        _check(decision)
        with anyio.CancelScope(shield=True):
            async with self._answering:
                decision.by.check()
                ticket = self._open(id_)
                before, now = ticket.hold, self._answered(ticket.hold, HoldMove.DENY, decision)
                ticket.hold = now  # nobody uses it from here on
                done = False
                try:
                    await self._kept(before, now, Answer.DENY, decision)
                    done = True
                finally:
                    if not done:
                        ticket.hold = before
                ticket.wake()
        self._waking.changed()
        return now

    def every(self) -> list[HeldCall]:
        """Those that can be answered or used, and those that were denied lately; the oldest first."""
        return [each.hold for each in self.tickets if each.shown]

    def get(self, id_: str) -> HeldCall:
        """Raises Unknown."""
        return self.tickets.get(id_).hold

    async def over(self, ticket: Ticket, move: HoldMove) -> None:
        """It is over, if it is not yet. What cannot be recorded now is when it can."""
        async with self._answering:
            if ticket.owed is None:
                before = ticket.hold
                try:
                    ticket.become(replace(before, state=moved(before.state, move)))
                except IllegalMove:
                    return
                ticket.owed = before.state, move
            await self._settle(ticket, *ticket.owed)

    async def run(self) -> None:
        """End what nobody answered in time, whose caller has gone, or which rests on what is not any more."""
        with self._publisher.subscribed(self._look_again), self._callers.subscribed(self._look_again):
            while True:
                self._waking.looking()
                await self._waking.until(await self._sweep())

    async def _sweep(self) -> int | None:
        """When there is something to do again, as far as it is known now."""
        now, times = self._clock.now(), list[int]()
        for ticket in self.tickets:
            move = ticket.owed[1] if ticket.owed else self._due(ticket.hold)
            if move is not None:
                await self.over(ticket, move)
            elif ticket.state is HoldState.DENIED and ticket.hold.until <= now:
                await self._forget(ticket)
            elif ticket.state in LIVE:
                times.append(ticket.hold.until)
            if ticket.owed is not None:
                times.append(now + RETRY_US)
        return min(times, default=None)

    def _look_again(self, _: object) -> None:
        """Something has changed that a held call may rest on."""
        self._waking.changed()

    def _open(self, id_: str) -> Ticket:
        ticket = self.tickets.get(id_)
        if ticket.hold.until <= self._clock.now():
            raise IllegalMove("nobody answered this call in time; it was refused")
        return ticket

    def _answered(self, hold: HeldCall, move: HoldMove, decision: Decision) -> HeldCall:
        """Raises IllegalMove."""
        state = moved(hold.state, move)
        seconds = self._settings.allowed_seconds if move is HoldMove.ALLOW else self._settings.life_seconds
        until = self._clock.now() + round(seconds * 1e6)
        return replace(hold, state=state, until=until, why=masked(decision.why, maybe=True).value, by=decision.by.id)

    async def _kept(self, before: HeldCall, now: HeldCall, answer: Answer, decision: Decision) -> None:
        fact = facts.answered(now, before.state, answer, decision, self._new_id())

        def keep(connection: Connection, append: Append) -> None:
            if answer is Answer.ALLOW and not generations.are(connection, now.rests.upstream, now.rests.pin):
                raise Stale(CHANGED)
            if not holds.move(connection, before.state, now):
                raise IllegalMove("this call was made, or ended otherwise, before it could be answered")
            append(fact.kind, fact.fields)

        await self._ledger.transact(keep)
        log.info("call.answered", ticket=now.id, answer=answer.value, by=decision.by.id)

    def _due(self, hold: HeldCall) -> HoldMove | None:
        """What has to happen to it by itself."""
        if hold.state not in (HoldState.WAITING, HoldState.ALLOWED):
            return None
        if hold.until <= self._clock.now():
            return HoldMove.EXPIRE
        return None if self._stands(hold) and self._callers.is_one(hold.caller) else HoldMove.VOID

    def _stands(self, hold: HeldCall) -> bool:
        """Whether everything is as it was when the call was made, as far as memory knows."""
        known = self._registry.find(hold.capability.server)
        if known is None or (known.upstream.id, known.upstream.generation) != hold.rests.upstream:
            return False
        pins = {(pin.id, pin.generation) for pin in known.pins.values()}
        return hold.rests.pin is None or hold.rests.pin in pins

    async def _settle(self, ticket: Ticket, before: HoldState, move: HoldMove) -> None:
        fact = facts.held_over(ticket.hold, before, move)

        def end(connection: Connection, append: Append) -> None:
            if holds.end(connection, ticket.hold.id, before):
                append(fact.kind, fact.fields)

        try:
            await self._ledger.transact(end)
        except LedgerUnavailable:
            return  # it is owed
        ticket.owed = None
        self.tickets.drop(ticket)

    async def _forget(self, ticket: Ticket) -> None:
        """It was denied long enough ago to be asked anew. That is no news: the answer was recorded."""
        id_ = ticket.hold.id
        self.tickets.drop(ticket)
        with suppress(LedgerUnavailable):  # then the next start finds it over
            await self._ledger.transact(lambda connection, _: holds.end(connection, id_, HoldState.DENIED))


def _check(decision: Decision) -> None:
    if len(decision.why) > LONGEST_WHY:
        raise Undecidable(f"the reason is longer than {LONGEST_WHY} characters")
    if not decision.why.strip():
        raise Undecidable("a decision needs a reason")
