"""Call budgets of callers: per minute, per minute and capability, and concurrent calls.

Rules kept here:
1. No period of 60 seconds has more calls than the budget. A call counts from the second in which it took its place.
2. Nothing waits between checking a budget and taking a place, so two calls never take the same last place.
3. A place is released exactly once, however the call ended. A call that was not sent after all is not counted.
4. A handshake counts as a call in the budget per minute, because a session costs as much as a call.
5. A caller without calls for a minute is forgotten. A budget of 0 is unlimited and counts nothing.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability
from mcpguard.domain.errors import Overtaken

IN_A_MINUTE: Final = "calls in a minute"
OF_ONE: Final = "calls of this capability in a minute"
AT_ONCE: Final = "calls at once"
_MINUTE: Final = 60
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """The limits of the budgets; 0 is unlimited."""

    in_a_minute: int = 0
    of_one: int = 0
    at_once: int = 0


class CallBudgets:
    """The used budgets of all callers. `monotonic`: a clock, in seconds."""

    def __init__(self, most: BudgetLimits, monotonic: Callable[[], float]) -> None:
        self._most = most
        self._monotonic = monotonic
        self._callers: _Minutes[str] = _Minutes(most.in_a_minute)
        self._each: _Minutes[tuple[str, Capability]] = _Minutes(most.of_one)
        self._open: dict[str, int] = {}

    def exhausted_budget(self, caller: Caller, capability: Capability) -> str | None:
        """Return the name of the budget that leaves no room for one more call; None if it fits."""
        second = int(self._monotonic())
        if self._most.at_once and self._open.get(caller.id, 0) >= self._most.at_once:
            return AT_ONCE
        if self._callers.full(caller.id, second):
            return IN_A_MINUTE
        return OF_ONE if self._each.full((caller.id, capability), second) else None

    def take(self, caller: Caller, capability: Capability) -> "BudgetPlace":
        """Take a place for a call. `exhausted_budget` must have returned None just before."""
        second = int(self._monotonic())
        seconds = (self._callers.add(caller.id, second), self._each.add((caller.id, capability), second))
        if self._most.at_once:
            self._open[caller.id] = self._open.get(caller.id, 0) + 1
        return BudgetPlace(self, caller.id, seconds)

    def count_handshake(self, caller: Caller) -> int:
        """Count a handshake and return 0, or return the seconds to wait until one fits."""
        second = int(self._monotonic())
        if wait := self._callers.wait(caller.id, second):
            return wait
        self._callers.add(caller.id, second)
        return 0

    def release(self, caller: str) -> None:
        """Count one concurrent call less."""
        if self._most.at_once:
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]

    @property
    def size(self) -> int:
        """The number of remembered windows and callers, by which a test sees that it stays small."""
        return len(self._callers.of) + len(self._each.of) + len(self._open)


@dataclass(slots=True, eq=False)
class _Second:
    """The calls that were counted in one second; set to 0 when the window has moved past it."""

    at: int
    window: "_Window"
    count: int = 0

    def take_off(self) -> None:
        if self.count:
            self.count -= 1
            self.window.total -= 1


@dataclass(slots=True, eq=False)
class _Window:
    """The calls of the last minute, second by second."""

    seconds: deque[_Second] = field(default_factory=deque)
    total: int = 0

    def move(self, second: int) -> None:
        while self.seconds and self.seconds[0].at < second - _MINUTE:
            gone = self.seconds.popleft()
            self.total -= gone.count
            gone.count = 0

    def add(self, second: int) -> _Second:
        self.move(second)
        if not self.seconds or self.seconds[-1].at != second:
            self.seconds.append(_Second(second, self))
        self.seconds[-1].count += 1
        self.total += 1
        return self.seconds[-1]


class _Minutes(Generic[K]):
    """A window of one minute for each key."""

    def __init__(self, most: int) -> None:
        self.of: dict[K, _Window] = {}
        self._most = most
        self._swept = 0

    def full(self, key: K, second: int) -> bool:
        if not self._most or (window := self.of.get(key)) is None:
            return False
        window.move(second)
        return window.total >= self._most

    def wait(self, key: K, second: int) -> int:
        """Return the seconds to wait until one more fits; 0 if it fits now."""
        if not self.full(key, second):
            return 0
        first = next(each.at for each in self.of[key].seconds if each.count)
        return first + _MINUTE + 1 - second

    def add(self, key: K, second: int) -> _Second | None:
        if not self._most:
            return None
        if second - self._swept > _MINUTE:
            self._sweep(second)
        if (window := self.of.get(key)) is None:
            window = self.of[key] = _Window()
        return window.add(second)

    def _sweep(self, second: int) -> None:
        self._swept = second
        for key, window in [*self.of.items()]:
            window.move(second)
            if not window.seconds:
                del self.of[key]


class BudgetPlace:
    """The part of the budgets that one call takes, for the length of a block.

    A call that is to be judged again (`Overtaken`) is counted then: one call must not cost two.
    """

    def __init__(self, budgets: CallBudgets, caller: str, seconds: Iterable[_Second | None]) -> None:
        self._budgets = budgets
        self._caller = caller
        self._seconds = seconds
        self._held = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is Overtaken:
            self.take_off()
        if self._held:
            self._held = False
            self._budgets.release(self._caller)

    def take_off(self) -> None:
        """Uncount the call, which was not sent after all."""
        for second in self._seconds:
            if second is not None:
                second.take_off()
        self._seconds = ()
