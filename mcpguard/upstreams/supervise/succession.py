"""The successive connections to one server: each replaces one on which questions can no longer be attributed.

If a server may ask questions on a stream that all calls share, it gets one call at a time, so that its questions belong
to that call. But it may still be working on a cancelled call, which it need never answer; from then on the guard cannot
tell which call a question belongs to. Only a new connection resolves this doubt.

Rules kept here:
1. A call whose client supports questions waits for the new connection. Every other call uses the current one.
2. Calls in progress on the old connection finish there, and then it is closed. It gets no further calls.
3. Only one new connection is opened at a time. If none can be opened, because the server allows only one instance, the
   old one is closed when it is idle and reopened after a pause; until then the server's questions are refused.
4. A caller whose cancelled or timed-out call caused the doubt is charged for the new connection. After a few within a
   minute its calls are refused until the minute is over, so that no caller can make the guard restart a server
   endlessly.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import anyio
import structlog
from anyio.abc import TaskGroup

from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.connections import Condition, ConnectionState
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.news import LaunchAltered, News, ServerListed
from mcpguard.upstreams.protocol.connection import Connection
from mcpguard.upstreams.supervise.context import ConnectionLost, SupervisorContext
from mcpguard.upstreams.supervise.supervisor import Supervisor
from mcpguard.upstreams.supervise.takeover import TakingOver

MOST: Final = 5
"""Connections that one caller may cause at a server in a minute."""
MINUTE: Final = 60.0
_NOT_READY: Final = frozenset({ConnectionState.ERROR, ConnectionState.AUTHENTICATING})
log = structlog.get_logger("mcpguard.upstreams")


class Unsettling(GuardError):
    """This caller has caused too many connections to the server."""


class _Kept:
    """Keeps back the news of a connection until calls use it. Only a changed program is reported at once."""

    def __init__(self, tell: Callable[[News], None], wake: Callable[[], None]) -> None:
        self._tell = tell
        self._wake = wake
        self._listed: ServerListed | None = None
        self._open = False

    def __call__(self, news: News) -> None:
        if self._open or isinstance(news, LaunchAltered):
            self._tell(news)
        # Only the last listing counts: nothing of this connection is in force before calls use it.
        elif isinstance(news, ServerListed):
            self._listed = news
        self._wake()

    def let_go(self) -> None:
        """Pass on the last listing, and all news from now on: calls use the connection now."""
        self._open = True
        if self._listed is not None:
            self._tell(self._listed)


class Succession:
    """Keeps one server connected for as long as `run` runs. `current` is the connection that calls use."""

    def __init__(self, declared: DeclaredServer, around: SupervisorContext) -> None:
        self.declared = declared
        self.current = Supervisor(declared, around, self._unclear)
        self._around = around
        self._clock = around.clock
        self._pauses = around.growing(around.settings.retry_seconds)
        self._not_before = 0.0
        self._wanted = anyio.Event()
        self._moved = anyio.Event()
        self._retired = False
        self._running: set[Supervisor] = set()
        self.charges: dict[str, deque[float]] = {}
        """When each caller caused a connection lately."""

    @property
    def connection(self) -> Connection | None:
        """The connection that calls may use now."""
        return self.current.connection

    @property
    def condition(self) -> Condition:
        return self.current.condition

    def in_force(self) -> Listing | None:
        """Return the listing of the connection that calls use, if nothing can have changed since."""
        upkeep = self.current.upkeep
        is_valid = self.current.connection is not None and self._clock.monotonic() < upkeep.valid_until
        return upkeep.listing if is_valid else None

    @property
    def busy_places(self) -> int:
        """The number of slots that calls occupy, on old connections too."""
        return sum(each.turns.taken for each in self._running)

    def retire(self) -> None:
        """Let no call reach the server from now on."""
        self._retired = True
        self.current.retire()
        self._wake()

    def _check(self, caller: str) -> None:
        """Raise Unsettling for a caller that has caused too many connections."""
        charges = self.charges.get(caller, deque())
        while charges and charges[0] <= self._clock.monotonic() - MINUTE:
            charges.popleft()
        if not charges:
            self.charges.pop(caller, None)
        # Only this caller is refused: others can still use the server while its minute runs.
        if len(charges) >= MOST:
            raise Unsettling

    async def place(self, caller: str, client: Counterpart | None) -> Supervisor | None:
        """Take a slot for a call of this client, and return its connection; None where there is none.

        Raises Busy or Unsettling.
        """
        self._check(caller)
        while True:
            # Again after every event: the new connection may have failed, or become unsettled as well.
            while self._is_to_be_succeeded(client):
                self._wanted.set()
                await self._moved.wait()
            supervisor = self.current
            if supervisor.connection is None:
                return None
            await supervisor.turns.__aenter__()
            # While this call waited for its slot another connection may have taken over: then it goes there instead.
            if supervisor is self.current and not self._is_to_be_succeeded(client):
                if not supervisor.is_unsettled:
                    supervisor.unsettled_by.clear()
                return supervisor
            supervisor.turns.give_back()

    async def run(self) -> None:
        """Keep the server connected until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep, self.current, name=f"connection to {self.declared.name}")
            while True:
                await self._wanted.wait()
                await self._succeeded(tasks)
                self._wanted = anyio.Event()
                self._wake()

    def _is_to_be_succeeded(self, client: Counterpart | None) -> bool:
        """Tell whether a call of this client has to wait for a new connection, and one may be opened."""
        can_be_asked = client is not None and bool(client.capabilities)
        there_is_one = self.current.is_unsettled and self._clock.monotonic() >= self._not_before
        return can_be_asked and there_is_one and not self._retired

    async def _succeeded(self, tasks: TaskGroup) -> None:
        """Open a new connection and let it replace the current one, if that is still in doubt."""
        before = self.current
        if not before.is_unsettled or self._clock.monotonic() < self._not_before:
            return
        # Charged when it is opened, not when it succeeds: a failing attempt costs the server just as much.
        self._charge(before.unsettled_by)
        log.info("upstream.succession", server=self.declared.name)
        kept = _Kept(self._around.tell, self._wake)
        around = replace(self._around, tell=kept)
        taking_over = TakingOver(self._about_to_take_over, lambda: self._take_over(successor, kept))
        # It shares the subscriptions of the old connection, so that no client has to subscribe again.
        successor = Supervisor(self.declared, around, self._unclear, before.watching, taking_over)
        tasks.start_soon(self._keep, successor, name=f"next connection to {self.declared.name}")
        while self.current is before and successor.condition.state not in _NOT_READY:
            await self._moved.wait()
        if self.current is successor:
            self._pauses.reset()
            return
        # It did not take over: it failed, or it is not needed any more.
        successor.end()
        if before.is_unsettled:
            log.info("upstream.succession_failed", server=self.declared.name, why=successor.condition.error)
            self._not_before = self._clock.monotonic() + self._pauses.next()
            before.clear_doubt()

    async def _keep(self, supervisor: Supervisor) -> None:
        self._running.add(supervisor)
        try:
            await supervisor.run()
        finally:
            self._running.discard(supervisor)

    async def _about_to_take_over(self) -> None:
        """Prepare the change once the new connection is listed. Raises ConnectionLost where it is not needed any
        more.
        """
        before = self.current
        if self._retired or (before.connection is not None and not before.is_unsettled):
            raise ConnectionLost("the new connection is not needed any more")
        # Both share one set of subscriptions, which only one connection at a time may keep.
        await before.unwatch()

    def _take_over(self, successor: Supervisor, kept: _Kept) -> None:
        self.current.leave()
        self.current = successor
        kept.let_go()
        self._wake()

    def _charge(self, callers: set[str]) -> None:
        for caller in callers:
            self.charges.setdefault(caller, deque()).append(self._clock.monotonic())

    def _unclear(self) -> None:
        self._wanted.set()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = anyio.Event()
