"""The wait for servers at startup: until each that is expected was tried once, and no longer than so many seconds."""

from collections.abc import Iterable

import anyio

from mcpguard.domain.clock import Clock


class StartupWait:
    """Keeps track of the servers that have not been tried yet, for so many seconds."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        # Counted from the start of the guard, so that a server that never connects delays nobody later.
        self._ends = clock.monotonic() + seconds
        self._untried: set[str] = set()
        self._settled = anyio.Event()
        self._settled.set()

    def expect(self, servers: Iterable[str]) -> None:
        """Wait for these servers, too: they are about to connect for the first time."""
        self._untried |= {*servers}
        if self._untried and self._settled.is_set():  # whoever waits already goes on waiting for the same
            self._settled = anyio.Event()

    def note_tried(self, server: str) -> None:
        """Wait no longer for a server: it was taken in, has failed to connect, or was removed."""
        self._untried.discard(server)
        if not self._untried:
            self._settled.set()

    @property
    def is_over(self) -> bool:
        """Whether `wait` would return at once. Stays true, whatever becomes of servers later."""
        return not self._untried or self._clock.monotonic() >= self._ends

    async def wait(self) -> None:
        """Wait until every expected server was tried once, or the time is over."""
        left = self._ends - self._clock.monotonic()
        if left > 0:
            with anyio.move_on_after(left):
                await self._settled.wait()
