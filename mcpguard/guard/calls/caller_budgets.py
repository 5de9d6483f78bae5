"""The budgets of each caller for calls and handshakes, measured by the guard's clock."""

from collections.abc import Iterator
from contextlib import contextmanager

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.verdicts import Deny, Verdict
from mcpguard.domain.capabilities import Capability
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import Overtaken
from mcpguard.policy.budgets import BudgetLimits, BudgetPlace, CallBudgets
from mcpguard.settings.model import Settings


class CallerBudgets:
    """Counts calls and handshakes against the budgets in the settings."""

    def __init__(self, clock: Clock, settings: Settings) -> None:
        said = settings.budgets
        self._budgets = CallBudgets(BudgetLimits(said.caller_minute, said.capability_minute, said.at_once))
        self._clock = clock

    def exhausted_budget(self, caller: Caller, capability: Capability) -> str | None:
        """Name the budget that leaves no room for one more call; None where all have room."""
        return self._budgets.exhausted_budget(caller, capability, self._clock.monotonic())

    def count_handshake(self, caller: Caller) -> int:
        """Count a handshake and return 0, or return the seconds after which there is room for one."""
        return self._budgets.greet(caller.id, self._clock.monotonic())

    @contextmanager
    def count_call(self, caller: Caller, capability: Capability, verdict: Verdict) -> Iterator[BudgetPlace | None]:
        """Count a call while the block runs. A refused call does not count, nor does one that has to be judged
        again."""
        if isinstance(verdict, Deny):
            yield None
            return
        place = self._budgets.take(caller, capability, self._clock.monotonic())
        try:
            yield place
        # Judged again in a moment, and counted then: one call must not cost two.
        except Overtaken:
            place.take_off()
            raise
        finally:
            place.release()
