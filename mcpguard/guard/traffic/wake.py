"""A sleep that ends at a given moment, or earlier when something changes."""

import anyio

from mcpguard.domain.clock import Clock

LONGEST_NAP = 60.0
"""Seconds: the host's clock may be set, and the one that a sleep measures by may stand still while it is suspended."""


class WakeTimer:
    """An alarm for one sleeper, who calls `reset` before looking, so that no change meanwhile is slept through."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = anyio.Event()

    def wake(self) -> None:
        """Wake the sleeper: there is something to look at."""
        self._changed.set()

    def reset(self) -> None:
        self._changed = anyio.Event()

    async def sleep_until(self, moment: int | None) -> None:
        """Sleep until this moment (UTC, microseconds), but not too long, or until something changes."""
        async with anyio.create_task_group() as tasks:
            if moment is not None:
                seconds = max(0.0, (moment - self._clock.now()) / 1e6)
                tasks.start_soon(self._nap, min(seconds, LONGEST_NAP), name="until a time is over")
            await self._changed.wait()
            tasks.cancel_scope.cancel()

    async def _nap(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._changed.set()
