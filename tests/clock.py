"""A clock that stands still until a test moves it."""

import asyncio
import heapq
import itertools

import anyio
from anyio.lowlevel import checkpoint

LOOK_SECONDS = 0.1
START = 1_790_000_000_000_000  # microseconds; some day in 2026


async def at_rest() -> None:
    """Until every other task waits for something.

    anyio's `wait_all_tasks_blocked` is the same without the last `checkpoint`. It looks as often as uvicorn wakes, and
    once the two are in step it finds, for minutes, a listener that is about to run in the very same moment.
    """
    await checkpoint()
    while any(_can_go_on(task) for task in asyncio.all_tasks() if task is not asyncio.current_task()):
        await anyio.sleep(LOOK_SECONDS)
        await checkpoint()


def _can_go_on(task: asyncio.Task[object]) -> bool:
    waiter = task._fut_waiter  # type: ignore[attr-defined]
    return waiter is None or waiter.done()


class FakeClock:
    """Time as the test decides. Every reading of `now` is a microsecond later, so that records differ."""

    def __init__(self) -> None:
        self._elapsed = 0.0
        self._readings = itertools.count()
        self._sleepers: list[tuple[float, int, anyio.Event]] = []
        self._order = itertools.count()

    def now(self) -> int:
        return START + round(self._elapsed * 1_000_000) + next(self._readings)

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        event = anyio.Event()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), event))
        await event.wait()

    def jump(self, seconds: float) -> None:
        """It is later, and nobody has waited: whoever sleeps wakes when time passes again."""
        self._elapsed += seconds
        self._sleepers = [(due + seconds, order, event) for due, order, event in self._sleepers]

    def has_sleeper(self, seconds: float) -> bool:
        """Whether somebody sleeps for exactly so long from now."""
        return any(due == self._elapsed + seconds for due, _, _ in self._sleepers)

    def due_within(self, seconds: float) -> bool:
        """Whether anybody would wake if so much time passed."""
        return bool(self._sleepers) and self._sleepers[0][0] <= self._elapsed + seconds

    async def advance(self, seconds: float) -> None:
        """Let time pass, waking every sleeper at its moment, in order."""
        until = self._elapsed + seconds
        await at_rest()
        while self._sleepers and self._sleepers[0][0] <= until:
            self._elapsed, _, event = heapq.heappop(self._sleepers)
            event.set()
            await at_rest()
        self._elapsed = until

    def tick(self, seconds: float) -> None:
        """Let a moment pass, waking whoever is due, and wait for nobody: while others go by the machine's time."""
        self._elapsed += seconds
        while self._sleepers and self._sleepers[0][0] <= self._elapsed:
            heapq.heappop(self._sleepers)[2].set()
