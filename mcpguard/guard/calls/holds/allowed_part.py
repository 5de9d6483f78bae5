"""One call's use of an allowance. It is stored together with the verdict that allows the call, or not at all."""

from dataclasses import replace

from mcpguard.domain.calls.allowances import AllowanceEnd
from mcpguard.domain.calls.records import Opening
from mcpguard.guard.calls.holds.open_allowances import OpenAllowance, OpenAllowances
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import allowances


class AllowedPart:
    """A call that has taken its place in an allowance. `has_begun`: whether the store has the verdict that says so."""

    def __init__(self, every: OpenAllowances, used: OpenAllowance) -> None:
        self.id = used.allowance.id
        self.has_begun = False
        self._every = every
        self._used = used
        self._was_refused = False

    def named_in(self, opening: Opening) -> Opening:
        """Return the opening with the id of the allowance."""
        return replace(opening, allowance=self.id)

    def store(self, connection: Connection) -> bool:
        """Use up one call of the allowance in the transaction of the verdict. Returns whether the store had it."""
        had = allowances.use(connection, self._used.allowance, self._every.clock.now())
        self._was_refused = not had
        return had

    def begin(self) -> None:
        """Take note that the opening was stored."""
        self.has_begun = True
        self._used.keep()
        self._every.waking.wake()

    def undo(self) -> None:
        """Give the place back, as the opening was not stored. An allowance that the store does not have counts no more:
        the narrower of the two wins."""
        self._used.give_back()
        if self._was_refused and self._used.ended is None:
            self._used.ended = AllowanceEnd.STORE
            self._every.waking.wake()
