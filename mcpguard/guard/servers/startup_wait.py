"""The wait for servers at startup: for all that are expected, and only until each was tried once."""

from collections.abc import Iterable

import anyio


class StartupWait:
    """Keeps track of the servers that have not been tried yet."""

    def __init__(self) -> None:
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
    def is_settled(self) -> bool:
        """Whether every expected server was tried once."""
        return not self._untried

    async def wait(self) -> None:
        """Wait until every expected server was tried once."""
        await self._settled.wait()
