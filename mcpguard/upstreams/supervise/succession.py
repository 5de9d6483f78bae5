"""The connections to one server, one after the other: when what it asks cannot be told apart any more, another one is
opened first and then takes the place of the one before.

A server that may ask something, on a stream that all calls share, works on one call at a time, so that it is known
whose call it asks for. It may still be at a call that was taken back, and rightly never answers that one; from then on
nobody can tell for whom it asks. Only a new connection ends that.

Rules kept here:
1. A call whose client can be asked waits for the new connection. Every other one goes on over the one that there is.
2. What is under way on the earlier connection ends there, and then that connection ends. No other call reaches it.
3. No more than one is opened at a time. Where none can be had, as a server may have to be alone, the earlier one is
   ended when it has nothing to do, and begun anew after a pause; what the server asks until then is refused.
4. Whoever left the server with a call that was taken back, or that took too long, is charged for the connection which
   that costs. They have a few in a minute; then their calls are refused until the minute is over.
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
from mcpguard.upstreams.supervise.context import Lost, SupervisorContext
from mcpguard.upstreams.supervise.supervisor import Supervisor
from mcpguard.upstreams.supervise.takeover import TakingOver

MOST: Final = 5
"""Connections that one caller may cost a server in a minute."""
MINUTE: Final = 60.0
_NOT_READY: Final = frozenset({ConnectionState.ERROR, ConnectionState.AUTHENTICATING})
log = structlog.get_logger("mcpguard.upstreams")


class Unsettling(GuardError):
    """This caller has cost the server too many connections."""


class _Kept:
    """What a connection tells before calls use it: kept back, but that its program is another."""

    def __init__(self, tell: Callable[[News], None], wake: Callable[[], None]) -> None:
        self._tell = tell
        self._wake = wake
        self._listed: ServerListed | None = None
        self._open = False

    def __call__(self, news: News) -> None:
        if self._open or isinstance(news, LaunchAltered):
            self._tell(news)
        elif isinstance(news, ServerListed):
            self._listed = news
        self._wake()

    def let_go(self) -> None:
        """Calls use it from here on."""
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
        self._charges: dict[str, deque[float]] = {}

    @property
    def connection(self) -> Connection | None:
        """What calls may use now."""
        return self.current.connection

    @property
    def condition(self) -> Condition:
        return self.current.condition

    def in_force(self) -> Listing | None:
        """What the connection that calls may use has listed, if nothing can have changed since."""
        return self.current.in_force()

    @property
    def taken(self) -> int:
        """The places that calls have, on earlier connections too."""
        return sum(each.turns.taken for each in self._running)

    def retire(self) -> None:
        """From this moment on no call reaches the server."""
        self._retired = True
        self.current.retire()
        self._wake()

    def check(self, caller: str) -> None:
        """Raises Unsettling for a caller whose calls may not reach the server now."""
        charges = self._charges.get(caller, deque())
        while charges and charges[0] <= self._clock.monotonic() - MINUTE:
            charges.popleft()
        if not charges:
            self._charges.pop(caller, None)
        if len(charges) >= MOST:
            raise Unsettling

    async def place(self, client: Counterpart | None) -> Supervisor | None:
        """The connection for a call of this client, with a place taken in its turns; None where there is none.

        Raises Busy.
        """
        while True:
            while self._is_to_be_succeeded(client):
                self._wanted.set()
                await self._moved.wait()
            supervisor = self.current
            if supervisor.connection is None:
                return None
            await supervisor.turns.__aenter__()
            if supervisor is self.current and not self._is_to_be_succeeded(client):
                if not supervisor.is_unsettled:
                    supervisor.unsettled_by.clear()
                return supervisor
            await supervisor.turns.__aexit__(None, None, None)

    async def run(self) -> None:
        """Until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep, self.current, name=f"connection to {self.declared.name}")
            while True:
                await self._wanted.wait()
                await self._succeeded(tasks)
                self._wanted = anyio.Event()
                self._wake()

    def _is_to_be_succeeded(self, client: Counterpart | None) -> bool:
        """Whether a call of this client is better made over another connection, and that can be had."""
        can_be_asked = client is not None and bool(client.capabilities)
        there_is_one = self.current.is_unsettled and self._clock.monotonic() >= self._not_before
        return can_be_asked and there_is_one and not self._retired

    async def _succeeded(self, tasks: TaskGroup) -> None:
        """Open another connection and have it take the place of this one, if that still is unsettled."""
        before = self.current
        if not before.is_unsettled or self._clock.monotonic() < self._not_before:
            return
        self._charge(before.unsettled_by)
        log.info("upstream.succession", server=self.declared.name)
        kept = _Kept(self._around.tell, self._wake)
        around = replace(self._around, tell=kept)
        taking_over = TakingOver(self._about_to_take_over, lambda: self._take_over(successor, kept))
        successor = Supervisor(self.declared, around, self._unclear, before.watching, taking_over)
        tasks.start_soon(self._keep, successor, name=f"next connection to {self.declared.name}")
        while self.current is before and successor.condition.state not in _NOT_READY:
            await self._moved.wait()
        if self.current is successor:
            self._pauses.reset()
            return
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
        """The other connection was listed. Raises Lost where it is not needed any more."""
        before = self.current
        if self._retired or (before.connection is not None and not before.is_unsettled):
            raise Lost("it is not needed any more")
        await before.unwatch()

    def _take_over(self, successor: Supervisor, kept: _Kept) -> None:
        self.current.leave()
        self.current = successor
        kept.let_go()
        self._wake()

    def _charge(self, callers: set[str]) -> None:
        for caller in callers:
            self._charges.setdefault(caller, deque()).append(self._clock.monotonic())

    def _unclear(self) -> None:
        self._wanted.set()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = anyio.Event()
