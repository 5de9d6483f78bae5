"""An entry: one call while it is open.

Rules kept here (to enforce them, an entry is a block of code: `async with`):
1. An entry hands out a `Permit` only while the verdict that is *stored* for it allows the call; nothing is sent to an
   upstream without one.
2. The opening is stored before the block begins. However the block ends (an outcome, an exception, a cancellation),
   exactly one closing is stored, before the caller learns the result. It records the outcome that the block reports,
   unless that cannot be true.
3. Before the permit nothing was sent, so a failure is a refusal. After it, the outcome of a failure is unknown, unless
   the holder of the permit knows that nothing was sent after all.
"""

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio
import structlog

from mcpguard.domain.calls.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.calls.records import Opening, Permit
from mcpguard.domain.calls.verdicts import Allow, Hold, Verdict
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.errors import EntryMisused, LedgerUnavailable
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.format import call_fields, opening_fields, recordable
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.durability import Durability

if TYPE_CHECKING:
    from mcpguard.ledger.ledger import Ledger

Still = Callable[[Connection], bool]
"""Whether the store still has what a verdict is based on."""
NOTHING_SAID = Outcome.refusal(Reason.GUARD_ERROR)
"""The outcome of a block that does not say how the call ended."""
_SENT = {OutcomeKind.ANSWERED, OutcomeKind.FAILED}
_NOT_SENT = {OutcomeKind.REFUSED, OutcomeKind.HELD}
log = structlog.get_logger("mcpguard.ledger")


def unconditionally(_: Connection) -> bool:
    """The `still` of a verdict that is based on nothing in the store, such as a refusal."""
    return True


class Entry:
    """One call from its stored opening to its stored closing: hands out the permit to send it.

    The block says in `outcome` how the call ended. Behind the block, when the call has `ended`, that is the outcome
    that the caller is told.
    """

    def __init__(self, ledger: "Ledger", opening: Opening, still: Still, began: float) -> None:
        self.outcome = NOTHING_SAID
        self.ended = False
        self.id = opening.entry
        self.opening = opening
        self.fields = recordable(opening_fields(opening))
        self.call = call_fields(self.fields)
        self.still = still
        self.began = began
        self._ledger = ledger
        self._verdict = opening.verdict
        self._permitted = False

    async def __aenter__(self) -> Self:
        """Store the opening. Raises Overtaken where the store no longer has what the verdict is based on, and
        LedgerUnavailable."""
        try:
            await self._ledger.store_opening(self)
        except LedgerUnavailable:
            self.ended, self.outcome = True, Outcome.refusal(Reason.LEDGER_UNAVAILABLE)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.ended = True
        outcome = self.outcome
        if error is not None:
            outcome = self._outcome_after(error)
        elif not self._permitted or outcome.kind in _NOT_SENT:
            outcome = self._true_outcome(outcome)
            if outcome != self.outcome:
                said, recorded = self.outcome.kind.value, outcome.kind.value
                log.error("ledger.corrected", entry=self.id, said=said, recorded=recorded)
        self.outcome = await self._ledger.store_closing(self, outcome)
        return isinstance(error, LedgerUnavailable)

    @property
    def permitted(self) -> bool:
        """Whether a permit was handed out and may have been used."""
        return self._permitted

    def permit(self) -> Permit:
        """Return the permit that sending needs. From here on, something may have been executed."""
        if self.ended:
            raise EntryMisused(f"entry {self.id} has ended")
        if not isinstance(self._verdict, Allow):
            raise EntryMisused(f"entry {self.id} is not allowed: {self._verdict}")
        self._permitted = True
        return Permit(self.id)

    def mark_unsent(self) -> None:
        """Take note that the permit was not used: not one byte was sent."""
        self._permitted = False

    async def release(self, verdict: Verdict, still: Still) -> None:
        """Store the verdict that ends a hold. `still` is asked in that transaction. Raises Overtaken."""
        if self.ended or not isinstance(self._verdict, Hold):
            raise EntryMisused(f"entry {self.id} is not held")
        # Stored first: an answer to a hold that was not stored allows nothing.
        await self._ledger.store_release(self, verdict, still)
        self._verdict = verdict

    def _true_outcome(self, said: Outcome) -> Outcome:
        """The outcome to record for a block that said `said`, corrected where that cannot be true."""
        # A refusal after the permit would hide a call that may have been executed.
        if self._permitted:
            return Outcome.unknown(said.reason or Reason.GUARD_ERROR) if said.kind in _NOT_SENT else said
        # A block that claims an answer without a permit cannot be true; what happened is not known.
        if said.kind in _SENT:
            return Outcome.unknown(Reason.GUARD_ERROR)
        return said if said.executed is Executed.NO else Outcome(said.kind, Executed.NO, said.reason)

    def _outcome_after(self, error: BaseException) -> Outcome:
        """The outcome to record for a block that raised `error`."""
        if isinstance(error, anyio.get_cancelled_exc_class()):
            # Sent and then cancelled: the server may have executed it all the same.
            return Outcome.cancellation(Executed.UNKNOWN if self._permitted else Executed.NO)
        if self._permitted:
            return Outcome.unknown(Reason.GUARD_ERROR)
        if isinstance(error, LedgerUnavailable):
            return Outcome.refusal(Reason.LEDGER_UNAVAILABLE)
        return Outcome.refusal(Reason.GUARD_ERROR)


def durability(verdict: Verdict, effect: Effect | None) -> Durability:
    """How durably a verdict is stored: synced to the disk before anything is sent that may do more than read."""
    # A power failure may lose the record of a read. It must not lose that of a call that changed something.
    harmless = effect is Effect.READ or not isinstance(verdict, Allow)
    return Durability.COMMITTED if harmless else Durability.SYNCED
