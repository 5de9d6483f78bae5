"""The last lines that a server wrote to its standard error during a failed inspection.

Rules kept here:
1. Only lines written since the inspection began are read, and of these only the last.
2. They are made safe for any reader, agents included (`log_lines`): the server's secrets are masked, suspected secrets
   and prompt injection are withheld, and hidden characters are made visible.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from anyio import CapacityLimiter, to_thread

from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.guard.review.logs.log_lines import fit
from mcpguard.guard.servers.neighbours import Neighbours
from mcpguard.guard.servers.registry import Registry, ServerState
from mcpguard.upstreams.process.logs import LogMark
from mcpguard.upstreams.supervise.reach import LastOutput

MOST_LINES: Final = 10
MOST_BYTES: Final = 64 * 1024
Marks = Callable[[str], Awaitable[LogMark]]
Reads = Callable[[DeclaredServer, int, LogMark], Awaitable[LastOutput]]


class LastWords:
    """Reads the end of servers' logs. `mark` says how far a log is written, `wrote` reads it from there."""

    def __init__(self, registry: Registry, mark: Marks, wrote: Reads) -> None:
        self._neighbours = Neighbours(registry)
        self._mark = mark
        self._wrote = wrote
        self._one = CapacityLimiter(1)

    async def begin(self, name: str) -> LogMark:
        """Mark how far the log of a server is written now."""
        return await self._mark(name)

    async def read_since(self, known: ServerState, given: DeclaredServer, mark: LogMark) -> tuple[str, ...]:
        """The last lines that were written since the mark. `given`: the declaration with the secrets that the server
        got."""
        wrote = await self._wrote(given, MOST_BYTES, mark)
        around = self._neighbours.surroundings_of(known)
        said = await to_thread.run_sync(fit, wrote.lines, wrote.secrets, around, MOST_LINES, limiter=self._one)
        return said.lines
