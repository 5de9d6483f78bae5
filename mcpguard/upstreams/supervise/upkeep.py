"""The regular requests to a connected server besides calls: health checks, listings and notices of changed roots.

Rules kept here:
1. A busy server gets no health check: its calls have their own timeout.
2. A server is listed again when its lists change, when a caller waits for a listing, and periodically, but never for
   more than a tenth of the time. A failed listing is retried, and until it succeeds no earlier listing is in force.
3. A server that gets one call at a time gets no other request during a call, so that its questions belong to the call.
4. A server that may still be working on a cancelled call is reconnected once it is idle, if no second connection could
   replace the current one (`succession`): until then its questions cannot be attributed.
5. However often clients change their roots, a server is notified at most once a second.
"""

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import structlog

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.news import ServerListed
from mcpguard.upstreams.exchange.conversation import METHOD_NOT_FOUND, ServerError, StandingRequest
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.calls_in_flight import Busy, CallSlots
from mcpguard.upstreams.protocol.connection import Connection
from mcpguard.upstreams.protocol.error_sentences import error_sentence, http_status
from mcpguard.upstreams.protocol.listing import ListingBounds
from mcpguard.upstreams.supervise.context import ConnectionLost, SupervisorContext
from mcpguard.upstreams.transports.http_replies import UNAUTHORIZED

if TYPE_CHECKING:
    from mcpguard.domain.servers.listings import Listing

RELIST_SECONDS = 1.0
RELIST_SHARE = 9
ROOTS_SECONDS = 1.0
_NOBODY_THERE = {UNAUTHORIZED, 502, 503, 504}
"""HTTP statuses that do not show that the server is alive: a gateway in front of it sends them."""
_PAST = -math.inf
log = structlog.get_logger("mcpguard.upstreams")


class Upkeep:
    """The upkeep of one server. `complain` takes a problem of a server that is ready all the same."""

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
        self.listing: Listing | None = None
        """What the server listed last. It is in force only until `valid_until`."""
        self.valid_until = _PAST
        """When the listing is too old, on the guard's clock. It is past as soon as anything could have changed it."""
        self._announced = frozenset[CapabilityKind]()
        self._roots_changed = anyio.Event()
        self._unclear = anyio.Event()

    def lists_changed(self, kinds: frozenset[CapabilityKind] = frozenset()) -> None:
        """Note that the server's lists may have changed; of these kinds it has announced that itself."""
        self._announced |= kinds
        self._lapse()
        self._due.set()

    def confirm(self) -> None:
        """List the server soon, because somebody waits for that."""
        self._awaited.set()
        self._due.set()

    def roots_changed(self) -> None:
        """Note that a client has other roots now."""
        self._roots_changed.set()

    def unclear(self) -> None:
        """Note that a question of the server could not be attributed to a call."""
        self._unclear.set()

    async def clear_doubt(self, connection: Connection) -> None:
        """Raise Lost once the server is idle and only a new connection can end the doubt."""
        self._unclear = anyio.Event()  # doubt on an earlier connection does not count
        while True:
            await self._unclear.wait()
            with suppress(Busy):
                async with self._turns:
                    if connection.in_doubt:
                        raise ConnectionLost(
                            "its requests cannot be attributed, because it may still be working on a cancelled call"
                        )
                    self._unclear = anyio.Event()
            await self._clock.sleep(RELIST_SECONDS)

    async def tell_of_roots(self, connection: Connection) -> None:
        """Tell the server whenever the roots of a client have changed."""
        while True:
            await self._roots_changed.wait()
            self._roots_changed = anyio.Event()
            await connection.roots_changed()
            await self._clock.sleep(ROOTS_SECONDS)

    async def check(self, connection: Connection) -> None:
        """Ping the server from time to time. Raises the error that shows that it is gone."""
        seconds = self._settings.health_timeout
        while True:
            await self._clock.sleep(self._settings.health_seconds)
            # A ping in the middle of a call could be answered late by a server that works on one request at a time.
            if self._turns.taken:
                continue
            try:
                async with self._between_calls():
                    with anyio.fail_after(seconds):
                        await connection.is_there()
            except ServerError as error:
                if http_status(error) in _NOBODY_THERE:
                    raise
            except TimeoutError:
                raise ConnectionLost(f"the server did not answer a ping within {seconds:g} seconds") from None

    async def listen(self, connection: Connection, standing: StandingRequest) -> None:
        """Listen for list changes. After every interruption the lists count as changed.

        `standing` is acknowledged once the server reports changes, or once it has refused or ended that.
        """
        pauses = self._around.growing(RELIST_SECONDS)
        while True:
            began = self._clock.monotonic()
            try:
                await connection.listen(standing)
            except ServerError as error:
                # The server has no such stream. Its lists are then checked from time to time only.
                if error.error.get("code") == METHOD_NOT_FOUND:
                    return
                log.debug("upstream.unheard", server=self._name, why=error_sentence(error))
            except TransportEnded as error:
                log.debug("upstream.unheard", server=self._name, why=str(error))
            finally:
                # Also after a refusal: the first listing waits for this and must not wait for nothing.
                standing.acknowledged.set()
            standing = StandingRequest()
            self._lapse()  # from now on a change would go unnoticed
            if self._clock.monotonic() - began >= self._settings.retry_most_seconds:
                pauses.reset()
            await self._clock.sleep(pauses.next())
            self.lists_changed()

    async def keep_listed(self, connection: Connection) -> None:
        """List the server again when it reports a change, and when a listing is due."""
        seconds, most = self._settings.connect_seconds, self._settings.retry_most_seconds
        failing, pause = self._around.growing(RELIST_SECONDS), RELIST_SECONDS
        ended = self._clock.monotonic()
        while True:
            await self._due.wait()
            # A server that announces changes all the time would otherwise be listed all the time.
            await self._wait_with_it(ended + pause - self._clock.monotonic(), pause)
            began = self._clock.monotonic()
            try:
                async with self._between_calls():
                    with anyio.fail_after(seconds):
                        await self.list(connection)
            except (GuardError, TimeoutError) as error:
                why = (
                    error_sentence(error) if isinstance(error, GuardError) else f"no answer within {seconds:g} seconds"
                )
                self._complain(f"the server could not be listed again: {why}")
                self._lapse()
                self._due.set()
                pause = failing.next()
            else:
                self._complain("")
                failing.reset()
                # In proportion to how long the listing took: a slow server is not kept busy with listings.
                pause = max(RELIST_SECONDS, min(RELIST_SHARE * (self._clock.monotonic() - began), most))
            ended = self._clock.monotonic()

    async def sweep(self) -> None:
        """Have the server listed from time to time although it reports no change: it may not be honest about that."""
        while True:
            # A server that never announces a change could otherwise keep an old approval for a new definition.
            await self._clock.sleep(self._definitions.sweep_seconds)
            self._due.set()

    async def _wait_with_it(self, least: float, usual: float) -> None:
        """Wait a moment, as the lists may change further; not if somebody waits and the last listing is old enough."""
        if least > 0:
            await self._clock.sleep(least)
        elif not self._awaited.is_set():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_then, self._awaited.wait, tasks.cancel_scope.cancel)
                await self._clock.sleep(usual)
                tasks.cancel_scope.cancel()

    async def list(self, connection: Connection) -> None:
        """List the server and report the listing. Raises what `Connection.list_everything` raises."""
        settings, definitions = self._settings, self._definitions
        # Cleared before the listing begins: a change while it is read makes another one due.
        self._due, self._awaited = anyio.Event(), anyio.Event()
        # Read before the request: what is announced while the server answers belongs to the next listing.
        changes, began, announced = self._changes, self._clock.monotonic(), self._announced
        bounds = ListingBounds(settings.list_pages, settings.list_entries, settings.message_bytes)
        listing = await connection.list_everything(bounds)
        said = definitions.max_age if listing.ttl is None else max(listing.ttl, definitions.min_age)
        self.listing = listing
        if changes == self._changes:
            self.valid_until = began + min(said, definitions.max_age)
        self._announced -= announced
        self._around.tell(ServerListed(self._name, listing, self._declared, announced))

    def _lapse(self) -> None:
        """Let no listing be in force that began before now."""
        # One change since the listing is enough: a tool that may have changed is not called until it is listed again.
        self._changes += 1
        self.valid_until = _PAST

    @asynccontextmanager
    async def _between_calls(self) -> AsyncIterator[None]:
        """Take the only slot of a server that gets one call at a time; any other server need not be waited for."""
        if self._turns.places > 1:
            yield
            return
        async with self._turns:
            yield


async def _then(wait: Callable[[], Awaitable[object]], act: Callable[[], None]) -> None:
    await wait()
    act()
