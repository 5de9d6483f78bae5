"""A clock that stands still until a test moves it."""

import heapq
import itertools

import anyio
from anyio import wait_all_tasks_blocked

START = 1_790_000_000_000_000  # microseconds; some day in 2026


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

    def due_within(self, seconds: float) -> bool:
        """Whether anybody would wake if so much time passed."""
        return bool(self._sleepers) and self._sleepers[0][0] <= self._elapsed + seconds

    async def advance(self, seconds: float) -> None:
        """Let time pass, waking every sleeper at its moment, in order."""
        until = self._elapsed + seconds
        await wait_all_tasks_blocked()
        while self._sleepers and self._sleepers[0][0] <= until:
            self._elapsed, _, event = heapq.heappop(self._sleepers)
            event.set()
            await wait_all_tasks_blocked()
        self._elapsed = until

    def tick(self, seconds: float) -> None:
        """Let a moment pass, waking whoever is due, and wait for nobody: while others go by the machine's time."""
        self._elapsed += seconds
        while self._sleepers and self._sleepers[0][0] <= self._elapsed:
            heapq.heappop(self._sleepers)[2].set()
