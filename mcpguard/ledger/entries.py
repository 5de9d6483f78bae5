"""One call while it is open.

Rules kept here (the reason why an entry is given a function and not opened and closed by hand):
1. An entry hands out a `Permit` only while the verdict that is *stored* for it allows the call; nothing is sent to an
   upstream without one.
2. However the work ends (an outcome, an exception, a cancellation), there is one closing, and it is stored before
   anyone is told. It says what the work said, unless that cannot be true.
3. Before the permit nothing was sent, so a failure is a refusal. After it, a failure leaves open what happened, unless
   whoever had the permit knows that nothing left us after all.
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
"""Whether what a verdict rests on is what the store has."""
Release = Callable[[str, Verdict, Still], Awaitable[None]]
_SENT = {OutcomeKind.ANSWERED, OutcomeKind.FAILED}
_NOT_SENT = {OutcomeKind.REFUSED, OutcomeKind.HELD}


class Entry:
    """An open call: what is known of it, and what may be done with it."""

    def __init__(self, id_: str, verdict: Verdict, store_release: Release) -> None:
        self.id = id_
        self._verdict = verdict
        self._store_release = store_release
        self._permitted = False
        self._ended = False

    async def release(self, verdict: Verdict, still: Still = lambda _: True) -> None:
        """Store the verdict that ends a hold. `still` is asked in the transaction that does; Overtaken if it does not
        hold."""
        if self._ended or not isinstance(self._verdict, Hold):
            raise EntryMisused(f"entry {self.id} is not held")
        await self._store_release(self.id, verdict, still)
        self._verdict = verdict

    def permit(self) -> Permit:
        """What is needed to send. From here on, something may have been executed."""
        if self._ended:
            raise EntryMisused(f"entry {self.id} has ended")
        if not isinstance(self._verdict, Allow):
            raise EntryMisused(f"entry {self.id} is not allowed: {self._verdict}")
        self._permitted = True
        return Permit(self.id)

    @property
    def permitted(self) -> bool:
        """Whether something may have left us."""
        return self._permitted

    def nothing_left(self) -> None:
        """The permit was used for nothing: not one byte of what it allowed has left us."""
        self._permitted = False

    def ended_with(self, said: Outcome) -> Outcome:
        """The truth about work that returned `said`."""
        self._ended = True
        if self._permitted and said.kind in _NOT_SENT:
            return Outcome.unknown(said.reason or Reason.GUARD_ERROR)
        if not self._permitted and said.kind in _SENT:
            return Outcome.unknown(Reason.GUARD_ERROR)
        if not self._permitted and said.executed is not Executed.NO:
            return Outcome(said.kind, Executed.NO, said.reason)
        return said

    def ended_by(self, error: BaseException) -> Outcome:
        """The truth about work that did not return."""
        self._ended = True
        if isinstance(error, anyio.get_cancelled_exc_class()):
            return Outcome.cancelled(Executed.UNKNOWN if self._permitted else Executed.NO)
        if self._permitted:
            return Outcome.unknown(Reason.GUARD_ERROR)
        if isinstance(error, LedgerUnavailable):
            return Outcome.refused(Reason.LEDGER_UNAVAILABLE)
        return Outcome.refused(Reason.GUARD_ERROR)


def durability(verdict: Verdict, effect: Effect | None) -> Durability:
    """How a verdict is stored: synced before anything is sent that may do more than read."""
    harmless = effect is Effect.READ or not isinstance(verdict, Allow)
    return Durability.COMMITTED if harmless else Durability.SYNCED
