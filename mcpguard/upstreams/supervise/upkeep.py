"""What is asked of a server besides calls, for as long as it is connected.

Rules kept here:
1. A server that works is not asked for a sign of life: its calls have a time limit of their own.
2. A server is listed again when its list changes, when somebody waits for that, and from time to time; but never for
   more than a tenth of the time. Where that fails it is tried again, and nothing that it listed before is in force.
3. A server that works on one call at a time is asked for nothing else meanwhile: what it then asks belongs to the call.
4. A server that may still be at a call that was taken back, so that nobody can tell for whom it asks, is connected anew
   when it has nothing else to do, where no other connection could take its place (`succession`).
5. However often clients say that their roots are others, a server hears of it once a second at most.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
import structlog

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.news import ServerListed
from mcpguard.upstreams.exchange.conversation import METHOD_NOT_FOUND, ServerError, StandingRequest
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.call_slots import Busy, CallSlots
from mcpguard.upstreams.protocol.connection import Connection
from mcpguard.upstreams.protocol.error_sentences import sentence, status
from mcpguard.upstreams.protocol.listing import ListingBounds
from mcpguard.upstreams.supervise.context import Lost, SupervisorContext
from mcpguard.upstreams.transports.http_replies import UNAUTHORIZED

RELIST_SECONDS = 1.0
RELIST_SHARE = 9
ROOTS_SECONDS = 1.0
_NOBODY_THERE = {UNAUTHORIZED, 502, 503, 504}
"""HTTP statuses that are no sign of life: they come from whoever stands before the server."""
log = structlog.get_logger("mcpguard.upstreams")


@dataclass(frozen=True, slots=True)
class _Listed:
    """What was listed, after how many changes, and until when that is good."""

    listing: Listing
    changes: int
    until: float


class Upkeep:
    """The upkeep of one server. `complain` takes what is wrong with a server that is ready all the same."""

    def __init__(
        self, declared: DeclaredServer, around: SupervisorContext, turns: CallSlots, complain: Callable[[str], None]
    ) -> None:
        self._declared = declared
        self._name = declared.name
        self._around = around
        self._settings = around.settings
        self._definitions = around.definitions
        self._clock = around.clock
        self._turns = turns
        self._complain = complain
        self._due = anyio.Event()
        self._awaited = anyio.Event()
        self._changes = 0
        self._listed: _Listed | None = None
        self._announced = frozenset[CapabilityKind]()
        self._roots_changed = anyio.Event()
        self._unclear = anyio.Event()

    def lists_changed(self, kinds: frozenset[CapabilityKind] = frozenset()) -> None:
        """What the server lists is different now; of these kinds it says so itself."""
        self._announced |= kinds
        self._changes += 1
        self._due.set()

    def in_force(self) -> Listing | None:
        """What the server listed, as long as nothing has happened since then that could have changed it."""
        listed = self._listed
        if listed is None or listed.changes != self._changes:
            return None
        return listed.listing if self._clock.monotonic() < listed.until else None

    def confirm(self) -> None:
        """Somebody waits for what it lists now."""
        self._awaited.set()
        self._due.set()

    def roots_changed(self) -> None:
        """A client has other roots now."""
        self._roots_changed.set()

    def unclear(self) -> None:
        """It cannot be told for which call the server asks."""
        self._unclear.set()

    async def clear_doubt(self, connection: Connection) -> None:
        """Raises Lost when it takes a new connection. What no place was free for is tried again."""
        self._unclear = anyio.Event()  # whatever was unclear was so on an earlier connection
        while True:
            await self._unclear.wait()
            with suppress(Busy):
                async with self._turns:
                    if connection.in_doubt:
                        raise Lost("it asks, and may still be at a call that was taken back: nobody can tell for whom")
                    self._unclear = anyio.Event()
            await self._clock.sleep(RELIST_SECONDS)

    async def tell_of_roots(self, connection: Connection) -> None:
        """Tell the server when a client has other roots."""
        while True:
            await self._roots_changed.wait()
            self._roots_changed = anyio.Event()
            await connection.roots_changed()
            await self._clock.sleep(ROOTS_SECONDS)

    async def check(self, connection: Connection) -> None:
        """Ask for a sign of life from time to time. Raises what shows that there is none."""
        seconds = self._settings.health_timeout
        while True:
            await self._clock.sleep(self._settings.health_seconds)
            if self._turns.taken:
                continue
            try:
                async with self._between_calls():
                    with anyio.fail_after(seconds):
                        await connection.is_there()
            except ServerError as error:
                if status(error) in _NOBODY_THERE:
                    raise
            except TimeoutError:
                raise Lost(f"it gave no sign of life within {seconds:g} seconds") from None

    async def listen(self, connection: Connection, standing: StandingRequest) -> None:
        """Be told of changes. Whenever that was interrupted, something may have changed unheard.

        The first time is said by `standing`: when the server tells, or when it has ended that.
        """
        pauses = self._around.growing(RELIST_SECONDS)
        while True:
            began = self._clock.monotonic()
            try:
                await connection.listen(standing)
            except ServerError as error:
                if error.error.get("code") == METHOD_NOT_FOUND:
                    return
                log.debug("upstream.unheard", server=self._name, why=sentence(error))
            except TransportEnded as error:
                log.debug("upstream.unheard", server=self._name, why=str(error))
            finally:
                standing.acknowledged.set()
            standing = StandingRequest()
            self._changes += 1  # something may change unheard from now on
            if self._clock.monotonic() - began >= self._settings.retry_most_seconds:
                pauses.reset()
            await self._clock.sleep(pauses.next())
            self.lists_changed()

    async def keep_listed(self, connection: Connection) -> None:
        """List again when the server says that something changed, and when it is due."""
        seconds, most = self._settings.connect_seconds, self._settings.retry_most_seconds
        failing, pause = self._around.growing(RELIST_SECONDS), RELIST_SECONDS
        ended = self._clock.monotonic()
        while True:
            await self._due.wait()
            await self._wait_with_it(ended + pause - self._clock.monotonic(), pause)
            began = self._clock.monotonic()
            try:
                async with self._between_calls():
                    with anyio.fail_after(seconds):
                        await self.list(connection)
            except (GuardError, TimeoutError) as error:
                why = sentence(error) if isinstance(error, GuardError) else f"it took more than {seconds:g} seconds"
                self._complain(f"what it offers could not be listed again: {why}")
                self._changes += 1
                self._due.set()
                pause = failing.next()
            else:
                self._complain("")
                failing.reset()
                pause = max(RELIST_SECONDS, min(RELIST_SHARE * (self._clock.monotonic() - began), most))
            ended = self._clock.monotonic()

    async def sweep(self) -> None:
        """From time to time, have it listed again although it says nothing."""
        while True:
            await self._clock.sleep(self._definitions.sweep_seconds)
            self._due.set()

    async def _wait_with_it(self, least: float, usual: float) -> None:
        """It may go on changing for a moment; unless somebody waits, and the last listing is not so recent."""
        if least > 0:
            await self._clock.sleep(least)
        elif not self._awaited.is_set():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_then, self._awaited.wait, tasks.cancel_scope.cancel)
                await self._clock.sleep(usual)
                tasks.cancel_scope.cancel()

    async def list(self, connection: Connection) -> None:
        settings, definitions = self._settings, self._definitions
        self._due, self._awaited = anyio.Event(), anyio.Event()  # what changes from here on is listed again
        changes, began, announced = self._changes, self._clock.monotonic(), self._announced
        bounds = ListingBounds(settings.list_pages, settings.list_entries, settings.message_bytes)
        listing = await connection.listed(bounds)
        said = definitions.max_age if listing.ttl is None else max(listing.ttl, definitions.min_age)
        self._listed = _Listed(listing, changes, began + min(said, definitions.max_age))
        self._announced -= announced
        self._around.tell(ServerListed(self._name, listing, self._declared, announced))

    @asynccontextmanager
    async def _between_calls(self) -> AsyncIterator[None]:
        """With a server that works on several calls at once there is no need to wait."""
        if self._turns.places > 1:
            yield
            return
        async with self._turns:
            yield


async def _then(wait: Callable[[], Awaitable[object]], act: Callable[[], None]) -> None:
    await wait()
    act()
