"""How many calls a caller may make: in a minute, of one thing in a minute, and at once.

Rules kept here:
1. In no 60 seconds are there more than the budget says. A call counts from when it was taken, to the second.
2. Taking and asking are one moment: nothing is waited for here, so two calls never take the same last place.
3. A place is given back once, however the call ended. A call that was not sent after all is taken off again.
4. A handshake counts as a call of the caller's minute: a session costs as much as one.
5. Whoever has made no call for a minute is forgotten. 0 is no budget, and nothing is counted for it.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability

IN_A_MINUTE: Final = "calls in a minute"
OF_ONE: Final = "calls of this capability in a minute"
AT_ONCE: Final = "calls at once"
_MINUTE: Final = 60
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Most:
    """How many; 0 is without end."""

    in_a_minute: int = 0
    of_one: int = 0
    at_once: int = 0


class CallBudgets:
    """What every caller has used."""

    def __init__(self, most: Most) -> None:
        self._most = most
        self._callers: _Minutes[str] = _Minutes(most.in_a_minute)
        self._each: _Minutes[tuple[str, Capability]] = _Minutes(most.of_one)
        self._open: dict[str, int] = {}

    def spent(self, caller: Caller, capability: Capability, now: float) -> str | None:
        """The budget that leaves no place for one more call."""
        if self._most.at_once and self._open.get(caller.id, 0) >= self._most.at_once:
            return AT_ONCE
        if self._callers.full(caller.id, int(now)):
            return IN_A_MINUTE
        return OF_ONE if self._each.full((caller.id, capability), int(now)) else None

    def take(self, caller: Caller, capability: Capability, now: float) -> "BudgetPlace":
        """A place for a call, which `spent` has just said there is."""
        second = int(now)
        seconds = (self._callers.add(caller.id, second), self._each.add((caller.id, capability), second))
        if self._most.at_once:
            self._open[caller.id] = self._open.get(caller.id, 0) + 1
        return BudgetPlace(self, caller.id, tuple(each for each in seconds if each is not None))

    def greet(self, caller: str, now: float) -> int:
        """Count a handshake and give 0, or give the seconds after which there is room for one."""
        if wait := self._callers.wait(caller, int(now)):
            return wait
        self._callers.add(caller, int(now))
        return 0

    def release(self, caller: str) -> None:
        """One call less at once."""
        if self._most.at_once:
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]

    @property
    def remembered(self) -> int:
        """How much is kept, for whoever wants to know that it stays little."""
        return len(self._callers.of) + len(self._each.of) + len(self._open)


@dataclass(slots=True, eq=False)
class _Second:
    """The calls that were taken in one second. A window that has left it behind has set it to 0."""

    at: int
    window: "_Window"
    count: int = 0

    def take_off(self) -> None:
        if self.count:
            self.count -= 1
            self.window.total -= 1


@dataclass(slots=True, eq=False)
class _Window:
    """The last minute."""

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
    """The last minute of each."""

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
        """The seconds after which there is room for one more; 0 where there is some."""
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
    """One call's part of the budgets."""

    def __init__(self, budgets: CallBudgets, caller: str, seconds: tuple[_Second, ...]) -> None:
        self._budgets = budgets
        self._caller = caller
        self._seconds = seconds
        self._held = True

    def release(self) -> None:
        """The call is over."""
        if self._held:
            self._held = False
            self._budgets.release(self._caller)

    def take_off(self) -> None:
        """It was not sent after all."""
        for second in self._seconds:
            second.take_off()
        self._seconds = ()
