"""The end of a server's log, for agents and reviewers who diagnose why it does not work.

Rules kept here:
1. Only agents with a token may read it, and only for approved servers within their scope: an unapproved server has no
   way to speak to an agent.
2. A server that is out of scope and a server that does not exist look the same.
3. Everything an agent gets is screened (`log_lines`), one log at a time and in a thread, so that nothing else waits for
   it.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from anyio import CapacityLimiter, to_thread

from mcpguard.domain.callers import Caller
from mcpguard.domain.decisions import Unknown
from mcpguard.domain.grants import ANONYMOUS
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.callers.callers import Callers
from mcpguard.guard.review.logs.log_lines import Fit, fit
from mcpguard.guard.servers.neighbours import Neighbours
from mcpguard.guard.servers.registry import Registry, ServerState
from mcpguard.policy.scopes import is_server_in_scope
from mcpguard.upstreams.supervise.reach import LastOutput

MOST_BYTES: Final = 256 * 1024
"""Bytes of a log that are read."""
_STANDS: Final = {
    UpstreamStanding.QUARANTINED: Reason.SERVER_QUARANTINED,
    UpstreamStanding.BLOCKED: Reason.SERVER_BLOCKED,
}
Reads = Callable[[DeclaredServer, int], Awaitable[LastOutput]]


class ServerLogs:
    """Reads the ends of servers' logs through `wrote`."""

    def __init__(self, registry: Registry, callers: Callers, wrote: Reads) -> None:
        self._registry = registry
        self._neighbours = Neighbours(registry)
        self._callers = callers
        self._wrote = wrote
        self._one = CapacityLimiter(1)

    async def last_lines(self, caller: Caller, name: str, most: int) -> Fit | Reason:
        """The last lines of a server's log, screened for an agent; or why they are not told. Raises Unknown."""
        if caller.id == ANONYMOUS:
            return Reason.CALLER_ANONYMOUS
        known = self._registry.find(name)
        if known is None or not is_server_in_scope(caller.scope, name):
            raise Unknown("unknown server, or not in your scope")
        if (objection := self._objection(caller, known)) is not None:
            return objection
        wrote = await self._wrote(known.declared, MOST_BYTES)
        around = self._neighbours.surroundings_of(known)
        said = await to_thread.run_sync(fit, wrote.lines, wrote.secrets, around, most, limiter=self._one)
        # Reading took a while: a caller who was revoked meanwhile gets nothing.
        return self._objection(caller, known) or said

    async def as_stored(self, name: str, most: int) -> tuple[str, ...]:
        """The last lines as they are stored, for reviewers, whatever the server's status. Raises Unknown."""
        wrote = await self._wrote(self._registry.get(name).declared, MOST_BYTES)
        return wrote.lines[-most:]

    def _objection(self, caller: Caller, known: ServerState) -> Reason | None:
        """Why the log is not told to this caller. Asked again after reading, which takes a while."""
        if not self._callers.holds(caller):
            return Reason.CALLER_REVOKED
        if known.upstream.removed:
            return Reason.SERVER_DISABLED
        return _STANDS.get(known.upstream.standing)
