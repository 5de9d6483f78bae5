"""The budgets of callers, by the guard's clock."""

from collections.abc import Iterator
from contextlib import contextmanager

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.verdicts import Deny, Verdict
from mcpguard.domain.capabilities import Capability
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import Overtaken
from mcpguard.policy.budgets import BudgetPlace, CallBudgets, Most
from mcpguard.settings.model import Settings


class Budgeting:
    """Counts calls."""

    def __init__(self, clock: Clock, settings: Settings) -> None:
        said = settings.budgets
        self._budgets = CallBudgets(Most(said.caller_minute, said.capability_minute, said.at_once))
        self._clock = clock

    def spent(self, caller: Caller, capability: Capability) -> str | None:
        """The budget that leaves no place for one more call."""
        return self._budgets.spent(caller, capability, self._clock.monotonic())

    def greet(self, caller: Caller) -> int:
        """Count a handshake and give 0, or give the seconds after which there is room for one."""
        return self._budgets.greet(caller.id, self._clock.monotonic())

    @contextmanager
    def counted(self, caller: Caller, capability: Capability, verdict: Verdict) -> Iterator[BudgetPlace | None]:
        """Around a call. What is refused does not count, nor does what has to be judged anew."""
        if isinstance(verdict, Deny):
            yield None
            return
        place = self._budgets.take(caller, capability, self._clock.monotonic())
        try:
            yield place
        except Overtaken:
            place.take_off()
            raise
        finally:
            place.release()
