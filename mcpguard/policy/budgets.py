"""Call budgets of callers: per minute, per minute and capability, and concurrent calls.

Rules kept here:
1. No period of 60 seconds has more calls than the budget. A call counts from the second in which it took its place.
2. Nothing waits between checking a budget and taking a place, so two calls never take the same last place.
3. A place is released exactly once, however the call ended. A call that was not sent after all is not counted.
4. A handshake counts as a call in the budget per minute, because a session costs as much as a call.
5. A caller without calls for a minute is forgotten. A budget of 0 is unlimited and counts nothing.
"""

from collections import deque
from collections.abc import Callable
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
        self._callers: _Minutes[str] = _Minutes()
        self._each: _Minutes[tuple[str, Capability]] = _Minutes()
        self._open: dict[str, int] = {}

    def exhausted_budget(self, caller: Caller, capability: Capability) -> str | None:
        """Return the name of the budget that leaves no room for one more call; None if it fits."""
        most, second = self._most, int(self._monotonic())
        if most.at_once and self._open.get(caller.id, 0) >= most.at_once:
            return AT_ONCE
        if most.in_a_minute and self._callers.total(caller.id, second) >= most.in_a_minute:
            return IN_A_MINUTE
        if most.of_one and self._each.total((caller.id, capability), second) >= most.of_one:
            return OF_ONE
        return None

    def take(self, caller: Caller, capability: Capability) -> "BudgetPlace":
        """Take a place for a call. `exhausted_budget` must have returned None just before."""
        most, second, seconds = self._most, int(self._monotonic()), list[_Second]()
        if most.in_a_minute:
            seconds.append(self._callers.add(caller.id, second))
        if most.of_one:
            seconds.append(self._each.add((caller.id, capability), second))
        if most.at_once:
            self._open[caller.id] = self._open.get(caller.id, 0) + 1
        return BudgetPlace(self._open if most.at_once else None, caller.id, seconds)

    def count_handshake(self, caller: Caller) -> int:
        """Count a handshake and return 0, or return the seconds to wait until one fits."""
        most, second = self._most.in_a_minute, int(self._monotonic())
        if not most:
            return 0
        if self._callers.total(caller.id, second) >= most:
            return self._callers.wait(caller.id, second)
        self._callers.add(caller.id, second)
        return 0

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


@dataclass(slots=True, eq=False)
class _Window:
    """The calls of the last minute, second by second."""

    seconds: deque[_Second] = field(default_factory=deque)
    total: int = 0


class _Minutes(Generic[K]):
    """A window of one minute for each key."""

    def __init__(self) -> None:
        self.of: dict[K, _Window] = {}
        self._swept = 0

    def total(self, key: K, second: int) -> int:
        """Return the calls of the last minute. What is older is forgotten."""
        window = self.of.get(key)
        if window is None:
            return 0
        seconds = window.seconds
        while seconds and seconds[0].at < second - _MINUTE:
            gone = seconds.popleft()
            window.total -= gone.count
            gone.count = 0
        return window.total

    def add(self, key: K, second: int) -> _Second:
        """Count a call in this second."""
        if second - self._swept > _MINUTE:
            self._sweep(second)
        if self.total(key, second) == 0:
            self.of.setdefault(key, _Window())
        window = self.of[key]
        if not window.seconds or window.seconds[-1].at != second:
            window.seconds.append(_Second(second, window))
        last = window.seconds[-1]
        last.count += 1
        window.total += 1
        return last

    def wait(self, key: K, second: int) -> int:
        """Return the seconds to wait until one more call fits in a full window."""
        first = next(each.at for each in self.of[key].seconds if each.count)
        return first + _MINUTE + 1 - second

    def _sweep(self, second: int) -> None:
        self._swept = second
        for key, window in [*self.of.items()]:
            self.total(key, second)
            if not window.seconds:
                del self.of[key]


class BudgetPlace:
    """The part of the budgets that one call takes, for the length of a block.

    A call that is to be judged again (`Overtaken`) is counted then: one call must not cost two.
    """

    def __init__(self, open_calls: dict[str, int] | None, caller: str, seconds: list[_Second]) -> None:
        self._open = open_calls
        self._caller = caller
        self._seconds = seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is Overtaken:
            self.take_off()
        calls, self._open = self._open, None
        if calls is not None:  # once, however often the block is left
            calls[self._caller] -= 1
            if not calls[self._caller]:
                del calls[self._caller]

    def take_off(self) -> None:
        """Uncount the call, which was not sent after all."""
        seconds, self._seconds = self._seconds, []
        for second in seconds:
            if second.count:
                second.count -= 1
                second.window.total -= 1
