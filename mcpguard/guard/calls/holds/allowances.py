"""Gives, revokes and ends allowances: a reviewer allows a held call and its like for some minutes.

Rules kept here:
1. An allowance is stored in one transaction with its record and with the answer to the held call, before it is in
   force. It is revoked before that is stored. An actor that may only tighten protection may revoke, but not give one.
2. None is given for what is destructive, has grave findings, or comes from a caller without a token.
3. One that has ended counts for no call from then on, even if that cannot be recorded yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import anyio
import structlog

from mcpguard.domain.calls.allowances import LONGEST_MINUTES, MOST_CALLS, Allowance, AllowanceEnd, CallParts
from mcpguard.domain.calls.holds import HeldCall
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.clock import Ids
from mcpguard.domain.decisions import Decision, Stale, Undecidable
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.guard.callers.callers import Callers
from mcpguard.guard.calls.holds.allowance_facts import ended_allowance, given_allowance
from mcpguard.guard.calls.holds.hold_answers import CHANGED, AlsoStored, HoldAnswers
from mcpguard.guard.calls.holds.hold_rules import UNNAMED
from mcpguard.guard.calls.holds.open_allowances import OpenAllowance, OpenAllowances
from mcpguard.guard.calls.holds.open_holds import is_unchanged
from mcpguard.guard.people.users import require_reason
from mcpguard.guard.servers.publisher import Publisher
from mcpguard.guard.servers.registry import Registry
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.policy.secrets.masking import mask_secrets
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.readers import Readers
from mcpguard.store.rows import allowances as stored
from mcpguard.store.rows import generations

RETRY_US: Final = 1_000_000
MOST_OPEN: Final = 200
"""Allowances that may be open at once: each call that is held is compared with those of its caller."""
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class AllowanceWish:
    """How long an allowance lasts, and the names of the arguments whose values must stay the same; None: all but those
    with free text."""

    minutes: int = LONGEST_MINUTES
    same: Sequence[str] | None = None


class Allowances:
    """The allowances of the guard."""

    def __init__(
        self,
        every: OpenAllowances,
        answering: HoldAnswers,
        registry: Registry,
        publisher: Publisher,
        callers: Callers,
        ledger: Ledger,
        new_id: Ids,
    ) -> None:
        self.every = every
        self._answering = answering
        self._registry = registry
        self._publisher = publisher
        self._callers = callers
        self._ledger = ledger
        self._new_id = new_id
        self._changing = anyio.Lock()

    async def load(self, readers: Readers) -> None:
        """Read the allowances from the store: they outlive a restart."""
        for allowance in await readers.run(stored.list_allowances):
            self.every.add(allowance)

    async def give(self, ticket: str, decision: Decision, wish: AllowanceWish) -> tuple[HeldCall, Allowance]:
        """Allow a held call, and its like for some minutes. Raises what `HoldAnswers.allow` does, and Undecidable where
        no allowance is given; then nothing has changed."""
        given: list[Allowance] = []

        def also(hold: HeldCall) -> AlsoStored:
            allowance = self._wanted(hold, decision, wish)
            given.append(allowance)
            return lambda connection, append: _store(connection, append, allowance, decision)

        with anyio.CancelScope(shield=True):
            hold = await self._answering.allow(ticket, decision, also)
            # In force only now that it is stored.
            self.every.add(given[-1])
        log.info("allowance.given", allowance=given[-1].id, ticket=ticket, by=decision.by.id)
        return hold, given[-1]

    async def revoke(self, id_: str, decision: Decision) -> Allowance:
        """End an allowance. Raises Unknown, Undecidable or LedgerUnavailable; then nothing has changed."""
        require_reason(decision)
        with anyio.CancelScope(shield=True):
            async with self._changing:
                decision.by.check()
                open_ = self.every.get(id_)
                # In force before it is stored: no call may use it while that is being written.
                open_.ended = AllowanceEnd.REVOKED
                done = False
                try:
                    await self._record_end(open_, decision)
                    done = True
                finally:
                    if not done:
                        open_.ended = None
        log.info("allowance.revoked", allowance=id_, by=decision.by.id)
        return open_.allowance

    def why_not(self, hold: HeldCall) -> str:
        """Why no allowance is given for the like of a held call; empty if one is."""
        known = self._registry.find(hold.capability.server)
        pin = known.pins.get((hold.capability.kind, hold.capability.name)) if known else None
        if known is None or pin is None or not is_unchanged(self._registry, hold.capability.server, hold.rests):
            return "the tool has changed"
        if pin.effect is None or Effect.DESTRUCTIVE.value in (pin.effect.value, hold.asking.effect):
            return "the tool is destructive"
        if known.findings_in((hold.capability.kind, hold.capability.name)).grave:
            return "the tool has critical or high findings"
        if self._callers.find(hold.caller) is None:
            return "the caller has no token"
        if hold.asking.because == UNNAMED:
            return "a script makes the call"
        return "" if hold.asking.arguments is not None else "its arguments cannot be compared"

    async def run(self) -> None:
        """End allowances as they are due, until cancelled."""
        with self._publisher.subscription(self._look_again), self._callers.subscription(self._look_again):
            while True:
                # Reset before looking: a change during the sweep ends the sleep after it at once.
                self.every.waking.reset()
                await self.every.waking.sleep_until(await self._sweep())

    def _look_again(self, _: object) -> None:
        self.every.waking.wake()

    async def _sweep(self) -> int | None:
        """End what is due. Returns when something is due next, as far as that is known."""
        times = list[int]()
        for open_ in self.every:
            if open_.ended is None:
                open_.ended = self._due(open_)
            if open_.ended is None:
                times.append(open_.allowance.until)
            elif not await self._settle(open_):
                times.append(self.every.clock.now() + RETRY_US)
        return min(times, default=None)

    def _due(self, open_: OpenAllowance) -> AllowanceEnd | None:
        """Why an allowance ends now, if it does."""
        allowance = open_.allowance
        if allowance.until <= self.every.clock.now():
            return AllowanceEnd.EXPIRED
        if allowance.left <= 0 and not open_.using:
            return AllowanceEnd.USED_UP
        if not self._callers.holds(allowance.caller):
            return AllowanceEnd.CALLER
        known, key = self._registry.find(allowance.capability.server), allowance.capability
        found = known is not None and known.findings_in((key.kind, key.name)).grave
        unchanged = is_unchanged(self._registry, key.server, allowance.rests)
        return AllowanceEnd.CHANGED if found or not unchanged else None

    async def _settle(self, open_: OpenAllowance) -> bool:
        """Record an end that is in force. Returns whether there is nothing left to record."""
        async with self._changing:
            # A reviewer may have revoked it meanwhile, or have failed to.
            if open_.ended is None or open_ not in tuple(self.every):
                return True
            try:
                await self._record_end(open_)
            except LedgerUnavailable:
                return False  # the next sweep tries again
        return True

    async def _record_end(self, open_: OpenAllowance, decision: Decision | None = None) -> None:
        def end(connection: Connection, append: Append) -> None:
            stored.end(connection, open_.allowance.id)
            fact = ended_allowance(open_.allowance, open_.ended or AllowanceEnd.STORE, decision)
            append(fact.kind, fact.fields)

        await self._ledger.transact(end)
        self.every.drop(open_)

    def _wanted(self, hold: HeldCall, decision: Decision, wish: AllowanceWish) -> Allowance:
        """The allowance for the like of a held call. Raises Undecidable."""
        asking, arguments = hold.asking, hold.asking.arguments
        if (why := self.why_not(hold)) or arguments is None:
            raise Undecidable(f"this call can only be allowed once: {why}")
        if not 1 <= wish.minutes <= LONGEST_MINUTES:
            raise Undecidable(f"an allowance lasts from 1 to {LONGEST_MINUTES} minutes")
        if sum(1 for _ in self.every) >= MOST_OPEN:
            raise Undecidable(f"there are {MOST_OPEN} allowances, the maximum; revoke one first")
        same = {*arguments} - {*asking.free_texts} if wish.same is None else {*wish.same}
        if not same <= arguments.keys():
            raise Undecidable("an argument that is to stay the same is not one of this call")
        now = self.every.clock.now()
        return Allowance(
            id=self._new_id(),
            ticket=hold.id,
            caller=hold.caller,
            caller_label=asking.caller_label,
            capability=hold.capability,
            rests=hold.rests,
            fingerprint=asking.fingerprint,
            effect=asking.effect,
            same=CallParts({name: arguments[name] for name in sorted(same)}, asking.rest),
            open=tuple(sorted(arguments.keys() - same)),
            until=now + wish.minutes * 60_000_000,
            left=MOST_CALLS - 1,  # the held call is the first
            at=now,
            by=decision.by.id,
            why=mask_secrets(decision.why, maybe=True).value,
        )


def _store(connection: Connection, append: Append, allowance: Allowance, decision: Decision) -> None:
    # In the transaction itself: memory may not know yet that the caller was revoked or the tool has changed.
    rests = allowance.rests
    if not generations.are_current(connection, rests.upstream, rests.pin, allowance.caller):
        raise Stale(CHANGED)
    stored.put(connection, allowance)
    fact = given_allowance(replace(allowance, left=MOST_CALLS), decision)
    append(fact.kind, fact.fields)
