"""How often a server may say that something has changed.

What is more than a number of times in a second is told once, after a second: nothing is lost, and a server that never
stops drowns nothing that others have to say.
"""

from collections.abc import Callable

import anyio

from mcpguard.domain.clock import Clock

PERIOD_SECONDS = 1.0
MOST = 100


class Pacing:
    """Passes on what comes, at a bounded pace. `run` has to run for what came too fast to be told later."""

    def __init__(self, clock: Clock, tell: Callable[[str], None], most: int = MOST) -> None:
        self._clock = clock
        self._tell = tell
        self._most = most
        self._since = clock.monotonic()
        self._told = 0
        self._later: dict[str, None] = {}
        self._more = anyio.Event()

    def take(self, uri: str, whole: str) -> None:
        """Tell of `uri` now, or later of `whole`, of which it is a part."""
        now = self._clock.monotonic()
        if now - self._since >= PERIOD_SECONDS:
            self._since, self._told = now, 0
        if self._told < self._most:
            self._told += 1
            self._tell(uri)
        else:
            self._later[whole] = None
            self._more.set()

    async def run(self) -> None:
        while True:
            await self._more.wait()
            await self._clock.sleep(PERIOD_SECONDS)
            self._more = anyio.Event()
            later, self._later = self._later, {}
            for whole in later:
                self._tell(whole)
