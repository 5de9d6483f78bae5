"""The second connection to a server that supports both protocol eras, used for clients of the handshake era.

In the handshake era a server can ask its client in the middle of a call (`ctx.elicit()` in the SDK); in the modern era
it has to return its question as the response. The first connection is a modern one, so a client of the handshake era
that supports questions needs another.

Rules kept here:
1. It is opened when the first such client calls, and closed when none has called for a while: while it is open, a
   server over standard streams has a second process.
2. It is listed like the first connection, and carries a call only if both list the capability byte for byte alike,
   because a user approved the listing of the first one. All other calls go over the first.
3. If it cannot be opened, calls go over the first, and it is not retried for a while. A lost connection is reopened
   after a pause, which grows.
4. Its program is compared with the inspected one, as for the first connection; a difference is reported to the guard.
"""

from dataclasses import replace
from typing import Final

import anyio
import structlog

from mcpguard.codec.fingerprints import definition_fingerprint
from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.errors import Unreadable
from mcpguard.domain.servers.connections import ConnectionState
from mcpguard.domain.servers.launches import DeclaredServer, Era
from mcpguard.domain.servers.listings import KEYS, Listing
from mcpguard.domain.servers.news import ConnectionChanged, LaunchAltered, News
from mcpguard.upstreams.supervise.context import SupervisorContext
from mcpguard.upstreams.supervise.succession import Succession
from mcpguard.upstreams.supervise.supervisor import Supervisor

IDLE_SECONDS: Final = 300.0
FAILED_SECONDS: Final = 300.0
_ON_THE_WAY: Final = frozenset({ConnectionState.STARTING, ConnectionState.CONNECTING})
_NOT_READY: Final = frozenset({ConnectionState.ERROR, ConnectionState.AUTHENTICATING})
log = structlog.get_logger("mcpguard.upstreams")


class SecondConnection:
    """Opens the second connection to a server when it is needed. `run` has to run for as long as the first does."""

    def __init__(self, declared: DeclaredServer, around: SupervisorContext, first: Succession) -> None:
        self._declared = replace(declared, era=Era.LEGACY)
        self._first = first
        self._around = around
        self._clock = around.clock
        self._second: Succession | None = None
        self._retired = False
        self._wanted = anyio.Event()
        self._moved = anyio.Event()
        self._used = 0.0
        self._not_before = 0.0
        self._pauses = around.growing(around.settings.retry_seconds)
        self._to_end = False
        self._compared: tuple[Listing, Listing] | None = None
        self._alike: dict[CapabilityKey, bool] = {}

    def serves(self, client: Counterpart) -> bool:
        """Tell whether calls of this client are better made over the second connection."""
        first = self._first.connection
        speaks_both = self._first.declared.era is Era.AUTO and first is not None and first.modern
        return speaks_both and client.era is Era.LEGACY and bool(client.capabilities)

    async def place(self, key: CapabilityKey, caller: str, client: Counterpart) -> Supervisor | None:
        """Take a slot, if this connection lists the capability exactly as the first one does. None where it does not.

        Raises Busy or Unsettling.
        """
        # Every connection has charges of its own: a caller may have unsettled one and not the other.
        if (second := await self._carrying(key)) is None:
            return None
        supervisor = await second.place(caller, client)
        if supervisor is None or self._carries(key):
            return supervisor
        # The server listed another definition while this call waited. A user approved the first connection's listing,
        # so the call must not reach a tool that only looks the same.
        supervisor.turns.give_back()
        return None

    async def _carrying(self, key: CapabilityKey) -> Succession | None:
        """Return the connection once it can carry calls of this capability; None if the first one has to."""
        self._used = self._clock.monotonic()
        with anyio.move_on_after(self._around.settings.connect_seconds):
            while not self._retired and self._used >= self._not_before:
                self._wanted.set()
                # The event is taken before the state is looked at: a change in between is not missed.
                moved, second = self._moved, self._second
                if second is not None and second.connection is not None:
                    if second.in_force() is not None:
                        return second if self._carries(key) else None
                    # Its listing is out of date: it is listed again now, and the loop waits for that.
                    second.current.confirm()
                await moved.wait()
        return None

    def _carries(self, key: CapabilityKey) -> bool:
        """Tell whether both connections list this capability alike now."""
        first = self._first.in_force()
        second = self._second.in_force() if self._second is not None else None
        # While either is being listed nothing is certain, so the call goes over the first connection.
        if first is None or second is None:
            return False
        if self._compared is None or self._compared[0] is not first or self._compared[1] is not second:
            self._compared, self._alike = (first, second), {}
        if key not in self._alike:
            one, other = _fingerprint(first, key), _fingerprint(second, key)
            self._alike[key] = one is not None and one == other
            if not self._alike[key]:
                log.warning("upstream.eras_differ", server=self._declared.name, kind=key[0].value, name=key[1])
        return self._alike[key]

    def end(self) -> None:
        """Close the connection. The next call that needs it opens it again."""
        self._to_end = True
        self._wake()

    def roots_changed(self) -> None:
        """Note that a client of this server has other roots now."""
        if self._second is not None:
            self._second.current.roots_changed()

    def retire(self) -> None:
        """Carry no call from now on."""
        self._retired = True
        if self._second is not None:
            self._second.retire()
        self._wake()

    async def run(self) -> None:
        """Open the connection whenever it is wanted, until cancelled."""
        while True:
            await self._wanted.wait()
            self._to_end = False
            self._second = Succession(self._declared, replace(self._around, tell=self._told))
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._second.run, name=f"second connection to {self._declared.name}")
                    await self._over(self._second)
                    tasks.cancel_scope.cancel()
            finally:
                self._second, self._wanted = None, anyio.Event()
                self._wake()

    async def _over(self, supervisor: Succession) -> None:
        """Return once the connection has failed or is to be closed, or when nobody has called for a while."""
        began, was_ready = self._clock.monotonic(), False
        while not self._to_end:
            was_ready = was_ready or supervisor.connection is not None
            now = self._clock.monotonic()
            if supervisor.condition.state in _NOT_READY:
                if now - began >= self._around.settings.retry_most_seconds:
                    self._pauses.reset()
                # Never ready: the server may allow one instance only, and trying again soon would disturb the first
                # one.
                self._not_before = now + (self._pauses.next() if was_ready else FAILED_SECONDS)
                log.info("upstream.second_failed", server=self._declared.name, why=supervisor.condition.error)
                return
            left = self._used + IDLE_SECONDS - now
            # Never closed under a call that is in progress.
            if left <= 0 and not supervisor.busy_places:
                return
            moved = self._moved
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._sleep_then_wake, max(left, 1.0))
                await moved.wait()
                tasks.cancel_scope.cancel()

    async def _sleep_then_wake(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._wake()

    def _told(self, news: News) -> None:
        if isinstance(news, LaunchAltered):
            self._around.tell(replace(news, declared=self._first.declared))
        elif not isinstance(news, ConnectionChanged) or news.condition.state not in _ON_THE_WAY:
            self._wake()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = anyio.Event()


def _fingerprint(listing: Listing, key: CapabilityKey) -> Fingerprint | None:
    """Return the fingerprint of the only definition with this key; None where there is none, or more than one."""
    kind, name = key
    found = [each for each in listing.of_kind(kind) if each.get(KEYS[kind]) == name]
    try:
        return definition_fingerprint(kind, found[0]) if len(found) == 1 else None
    except Unreadable:
        return None
