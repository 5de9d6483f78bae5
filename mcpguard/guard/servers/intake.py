"""Takes in what servers list: a listing is compared with the approvals, and only then offered to agents.

Rules kept here:
1. A listing is taken in whole and replaces the previous one. Of several pending listings of a server, only the newest
   is processed.
2. Reading a listing may be slow, so it runs in threads, two at once, and no server gets more than a tenth of the time.
3. A listing belongs to the server as declared when it ran. If the launch has changed, or another program was inspected
   since, the listing is ignored.
4. A listing that cannot be taken in is not in force; it is tried again, and affects no other server.
5. Inspection runs in threads too, in portions between which other servers have their turn. Findings are stored with the
   listing, in one transaction. They advise reviewers; no call is judged by them.
6. A server whose program differs from the observed one is quarantined without having run.
7. At a start nobody waits for a second inspection of a listing that is approved exactly as it is, and was inspected
   before: it is taken in with the earlier findings. After the start it is taken in once more, if these rest on other
   detectors or on other tools than there are then. Everything else is inspected first.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio
import structlog
from anyio import CapacityLimiter, to_thread

from mcpguard.codec.fingerprints import observed_fingerprint
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.decisions import Actor, Undecidable, Unknown
from mcpguard.domain.errors import LedgerUnavailable, Unreadable
from mcpguard.domain.servers.connections import ConnectionState
from mcpguard.domain.servers.identity import ObservedIdentity
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.news import Changes, ConnectionChanged, LaunchAltered, ServerListed, ServerRemoved
from mcpguard.guard.servers import facts
from mcpguard.guard.servers.listed_findings import ListingInspection
from mcpguard.guard.servers.listing_changes import HeardListing, ListingComparison, ListingCounts, change_of_program
from mcpguard.guard.servers.neighbours import Neighbours
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.repeated_findings import RepeatedFindings
from mcpguard.guard.servers.standings import ServerChange, Standings
from mcpguard.guard.servers.startup_wait import StartupWait
from mcpguard.policy.reconciliation import ReadListing, read_listing
from mcpguard.settings.model import Upstreams

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

T = TypeVar("T")
AGAIN_SECONDS = 1.0
SHARE = 9
AT_ONCE = 2
_TRIED = {ConnectionState.READY, ConnectionState.ERROR, ConnectionState.AUTHENTICATING}
log = structlog.get_logger("mcpguard.guard")


class Intake:
    """Takes in listings and other news of servers. Listings are only processed while `run` runs."""

    def __init__(self, standings: Standings, clock: Clock, new_id: Ids, settings: Upstreams, per_entry: int) -> None:
        """`per_entry`: how many capabilities of a server are remembered for each that it may list."""
        self.settling = StartupWait(clock, settings.settle_seconds)
        self._standings = standings
        self._registry = standings.registry
        self._clock = clock
        self._limiter = CapacityLimiter(AT_ONCE)
        self._neighbours = Neighbours(self._registry)
        self._retelling = RepeatedFindings(clock)
        self._comparing = ListingComparison(self._retelling, new_id, per_entry * settings.list_entries)
        self._newest: dict[str, ServerListed] = {}
        self._first: dict[str, ServerListed] = {}
        """The listings that were taken in last during the start; afterwards those that are to be taken in once more."""
        self._has_started = False
        self._busy: set[str] = set()
        self._altering: set[str] = set()
        self._rests: dict[str, float] = {}
        self._tasks: TaskGroup | None = None

    async def run(self) -> None:
        """Process listings, until cancelled."""
        async with anyio.create_task_group() as self._tasks:
            for server in tuple(self._newest):
                self._work(server)
            await self.settling.wait()
            self._has_started = True
            self._first = {server: each for server, each in self._first.items() if self._is_outdated(server)}
            for server in tuple(self._first):
                self._work(server)
            await anyio.sleep_forever()

    def take(self, news: Changes) -> None:
        """Accept news from the fleet, without waiting."""
        match news:
            case ServerListed(server):
                earlier = self._newest.get(server)
                # This listing replaces one that was not taken in yet, and takes over what that one announced.
                unheard = earlier.announced if earlier is not None else frozenset()
                self._newest[server] = replace(news, announced=news.announced | unheard)
                self._work(server)
            case LaunchAltered(server, declared):
                # One task for each server: it is told of every try to start.
                if self._tasks is not None and server not in self._altering:  # else it is told again with the next try
                    self._altering.add(server)
                    self._tasks.start_soon(self._altered, server, declared, name=f"alteration of {server}")
            case ServerRemoved(server):
                self._rests.pop(server, None)
                self._first.pop(server, None)
                self._retelling.forget(server)
                self.settling.note_tried(server)
            case ConnectionChanged(server, condition):
                if condition.state in _TRIED and server not in self._newest and server not in self._busy:
                    self.settling.note_tried(server)
                if (known := self._registry.find(server)) is not None:
                    known.announce()

    def is_altering(self, server: str) -> bool:
        """Tell whether a server is being quarantined because its program is another than the inspected one."""
        return server in self._altering

    async def take_in(
        self,
        known: ServerState,
        declared: DeclaredServer,
        listing: Listing,
        by: Actor | None = None,
        *,
        runs: bool = True,
        again: bool = False,
    ) -> ListingCounts:
        """Compare a listing with what is known. `runs`: whether it comes from the connection that calls use; `again`:
        whether it was taken in before, and counts no more where another one was since.

        Raises Unreadable for a server of which no identity can be told, LedgerUnavailable, and Undecidable for what a
        server that did not run has listed, where it runs by now or is declared otherwise.
        """
        identity = observed_fingerprint(ObservedIdentity(listing.server, listing.capabilities, listing.artifact))
        said = await self._aside(partial(read_listing, listing))
        looked = await self._looked(known, listing, said, patient=runs)
        heard = HeardListing(identity, listing.artifact, said, await self._aside(looked.result))
        taken, recorded = ListingCounts(0), tuple[facts.Fact, ...]()

        def compared(known: ServerState) -> ServerChange | None:
            nonlocal taken, recorded
            if not runs and known.runs:  # what calls rest on is what its connection lists, and nothing else
                raise Undecidable("the server was started meanwhile; inspect it again")
            # Listed by a program that is not the declared one any more.
            if known.declared.launch != declared.launch:
                if not runs:
                    raise Undecidable("the server's declaration changed meanwhile; inspect it again")
                return None
            if runs and known.upstream.artifact != declared.artifact:
                return None  # another program was inspected since: this listing says nothing of it
            if again and known.listing is not listing:
                return None  # an older listing must not replace a newer one
            change, taken = self._comparing.compare(known, heard, by)
            recorded = change.facts
            left_out = tuple(what if times == 1 else f"{what}, {times} times" for what, times in said.odd.items())
            return replace(change, listing=listing, odd=left_out)

        await self._standings.change(known, compared)
        self._retelling.note_recorded(recorded)
        if looked.inspected or looked.overdue:
            counts = {"definitions": looked.inspected, "later": len(looked.overdue)}
            log.info("intake.inspected", server=known.name, **counts)
        if looked.overdue or (runs and not self._has_started):
            self._first[known.name] = ServerListed(known.name, listing, declared)
        elif runs:
            self._first.pop(known.name, None)
        return taken

    async def _looked(
        self, known: ServerState, listing: Listing, said: ReadListing, *, patient: bool
    ) -> ListingInspection:
        beside, before = self._neighbours.other_tools(known), known.found
        # Only what is approved as it is: of anything else it depends on findings whether its server may return to it.
        waits = [key for key, pin in known.pins.items() if pin.callable] if patient and not self._has_started else ()
        looking = await self._aside(partial(ListingInspection, known.name, listing, said, beside, before, waits))
        while not looking.is_done:
            await self._aside(looking.look)
        return looking

    def _is_outdated(self, server: str) -> bool:
        known = self._registry.find(server)
        return known is not None and not self._neighbours.is_current(known)

    async def _aside(self, work: Callable[[], T]) -> T:
        # In a thread: reading and inspecting a large listing would hold up every call.
        return await to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=True)

    def _work(self, server: str) -> None:
        if self._tasks is not None and server not in self._busy:
            self._busy.add(server)
            self._tasks.start_soon(self._serve, server, name=f"intake of {server}")

    async def _serve(self, server: str) -> None:
        try:
            while server in self._newest or (self._has_started and server in self._first):
                # A server that lists all the time gets a tenth of the time, and must not hold up the others.
                left = self._rests.pop(server, 0.0) - self._clock.monotonic()
                if left > 0:
                    await self._clock.sleep(left)
                again = server not in self._newest
                # Out of what waits first, as a newer one may come meanwhile.
                listed, began = (self._first if again else self._newest).pop(server, None), self._clock.monotonic()
                if listed is None:  # the server was removed while it rested
                    continue
                known = self._registry.find(server)
                done = known is None or await self._taken(known, listed, again=again)
                ended = self._clock.monotonic()
                self._rests[server] = ended + max(SHARE * (ended - began), 0.0 if done else AGAIN_SECONDS)
                if done:
                    self.settling.note_tried(server)
                else:
                    # Not over a newer one, which may have come meanwhile.
                    (self._first if again else self._newest).setdefault(server, listed)
        finally:
            self._busy.discard(server)

    async def _taken(self, known: ServerState, listed: ServerListed, *, again: bool) -> bool:
        """Take in a listing. Returns whether there is nothing more to do about it."""
        before = known.listing or listed.listing
        try:
            await self.take_in(known, listed.declared, listed.listing, again=again)
            same = {kind for kind in listed.announced if before.of_kind(kind) == listed.listing.of_kind(kind)}
            self._standings.publisher.announce(known.name, frozenset(same))
        except LedgerUnavailable:
            return False
        except Unknown:
            log.debug("intake.removed", server=known.name)
        except Unreadable as error:
            log.warning("intake.unreadable", server=known.name, why=str(error))
        except Exception:
            log.exception("intake.failed", server=known.name)
        return True

    async def _altered(self, server: str, declared: DeclaredServer) -> None:
        """Quarantine a server whose program was exchanged. It did not start, and stays stopped until it is reviewed."""

        try:
            while (known := self._registry.find(server)) is not None:
                try:
                    await self._standings.change(known, partial(change_of_program, declared))
                except LedgerUnavailable:
                    await self._clock.sleep(AGAIN_SECONDS)
                else:
                    return
        except Unknown:
            log.debug("intake.removed", server=server)
        finally:
            self._altering.discard(server)
            if (known := self._registry.find(server)) is not None:
                known.announce()
