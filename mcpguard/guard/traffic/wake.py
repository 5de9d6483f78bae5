"""Sleeping until a time comes, or until there is something to look at before."""

import anyio

from mcpguard.domain.clock import Clock

LONGEST_NAP = 60.0
"""Seconds: the machine's time may be set, and what a sleep measures may stand still."""


class Waking:
    """One sleeper. Whoever looks first says so (`looking`), so that what changes meanwhile is not slept through."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = anyio.Event()

    def changed(self) -> None:
        """There is something to look at."""
        self._changed.set()

    def looking(self) -> None:
        self._changed = anyio.Event()

    async def until(self, moment: int | None) -> None:
        """Until then (UTC, microseconds), if it is not too far away, or until something changes."""
        async with anyio.create_task_group() as tasks:
            if moment is not None:
                seconds = max(0.0, (moment - self._clock.now()) / 1e6)
                tasks.start_soon(self._nap, min(seconds, LONGEST_NAP), name="until a time is over")
            await self._changed.wait()
            tasks.cancel_scope.cancel()

    async def _nap(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._changed.set()
