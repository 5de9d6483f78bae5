"""What becomes of the fleet's news: listings become the catalog.

Rules kept here:
1. Whatever a server lists replaces what it listed before, whole.
2. A server that is away for a moment keeps its place in the catalog: what agents see does not flicker, and calls say
   that it cannot be reached. One that was removed is gone at once.
"""

import anyio
import structlog

from mcpguard.catalog.shelf import shelf
from mcpguard.domain.connections import ConnectionState
from mcpguard.domain.news import Changes, Listed, Removed, Stood
from mcpguard.guard.publish import Publisher
from mcpguard.policy.effects import assumed

_TRIED = {ConnectionState.READY, ConnectionState.ERROR, ConnectionState.AUTHENTICATING}
log = structlog.get_logger("mcpguard.guard")


class Intake:
    """Takes news as it comes; nothing here waits."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._untried: set[str] = set()
        self._settled = anyio.Event()
        self._settled.set()

    def expect(self, servers: set[str]) -> None:
        """These are about to connect for the first time."""
        self._untried |= servers
        if self._untried and self._settled.is_set():  # whoever waits already goes on waiting for the same
            self._settled = anyio.Event()

    async def settled(self) -> None:
        """Until every expected server has connected or has failed to, once."""
        await self._settled.wait()

    def take(self, news: Changes) -> None:
        match news:
            case Listed(server, listing):
                made = shelf(server, listing, assumed)
                for what in made.odd:
                    log.warning("catalog.left_out", server=server, what=what)
                self._publisher.publish(self._publisher.catalog.with_shelf(made))
            case Removed(server):
                self._publisher.publish(self._publisher.catalog.without(server))
                self._tried(server)
            case Stood(server, condition):
                if condition.state in _TRIED:
                    self._tried(server)

    def _tried(self, server: str) -> None:
        self._untried.discard(server)
        if not self._untried:
            self._settled.set()
