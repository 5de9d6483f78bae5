"""An entry: one call while it is open.

Rules kept here (to enforce them, an entry runs a function instead of being opened and closed by its user):
1. An entry hands out a `Permit` only while the verdict that is *stored* for it allows the call; nothing is sent to an
   upstream without one.
2. However the work ends (an outcome, an exception, a cancellation), exactly one closing is stored, before the caller
   learns the result. It records the outcome that the work reports, unless that cannot be true.
3. Before the permit nothing was sent, so a failure is a refusal. After it, the outcome of a failure is unknown, unless
   the holder of the permit knows that nothing was sent after all.
"""

from collections.abc import Awaitable, Callable

import anyio

from mcpguard.domain.calls.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.calls.records import Permit
from mcpguard.domain.calls.verdicts import Allow, Hold, Verdict
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.errors import EntryMisused, LedgerUnavailable
from mcpguard.domain.reasons import Reason
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.durability import Durability

Still = Callable[[Connection], bool]
"""Whether the store still has what a verdict is based on."""
Release = Callable[[str, Verdict, Still], Awaitable[None]]


def unconditionally(_: Connection) -> bool:
    """The `still` of a verdict that is based on nothing in the store, such as a refusal."""
    return True


_SENT = {OutcomeKind.ANSWERED, OutcomeKind.FAILED}
_NOT_SENT = {OutcomeKind.REFUSED, OutcomeKind.HELD}


class Entry:
    """An open call: holds its stored verdict, and hands out the permit to send it."""

    def __init__(self, id_: str, verdict: Verdict, store_release: Release) -> None:
        self.id = id_
        self._verdict = verdict
        self._store_release = store_release
        self._permitted = False
        self._ended = False

    async def release(self, verdict: Verdict, still: Still) -> None:
        """Store the verdict that ends a hold. `still` is asked in that transaction. Raises Overtaken."""
        if self._ended or not isinstance(self._verdict, Hold):
            raise EntryMisused(f"entry {self.id} is not held")
        # Stored first: an answer to a hold that was not stored allows nothing.
        await self._store_release(self.id, verdict, still)
        self._verdict = verdict

    def permit(self) -> Permit:
        """Return the permit that sending needs. From here on, something may have been executed."""
        if self._ended:
            raise EntryMisused(f"entry {self.id} has ended")
        if not isinstance(self._verdict, Allow):
            raise EntryMisused(f"entry {self.id} is not allowed: {self._verdict}")
        self._permitted = True
        return Permit(self.id)

    @property
    def permitted(self) -> bool:
        """Whether a permit was handed out and may have been used."""
        return self._permitted

    def mark_unsent(self) -> None:
        """Take note that the permit was not used: not one byte was sent."""
        self._permitted = False

    def true_outcome(self, said: Outcome) -> Outcome:
        """The outcome to record for work that returned `said`, corrected where that cannot be true."""
        self._ended = True
        # A refusal after the permit would hide a call that may have been executed.
        if self._permitted and said.kind in _NOT_SENT:
            return Outcome.unknown(said.reason or Reason.GUARD_ERROR)
        # Work that claims an answer without a permit cannot be true; what happened is not known.
        if not self._permitted and said.kind in _SENT:
            return Outcome.unknown(Reason.GUARD_ERROR)
        if not self._permitted and said.executed is not Executed.NO:
            return Outcome(said.kind, Executed.NO, said.reason)
        return said

    def outcome_after(self, error: BaseException) -> Outcome:
        """The outcome to record for work that raised `error`."""
        self._ended = True
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
