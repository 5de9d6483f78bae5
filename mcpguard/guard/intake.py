"""What becomes of what servers list: it is compared with what a person approved, and only then offered.

Rules kept here:
1. Whatever a server lists counts whole, and what it listed before counts no more. Of several listings that wait, only
   the newest is taken in.
2. Reading a listing may take long, so it is done aside, for two servers at once, and no server gets more than a tenth
   of that time.
3. A listing is of the server that was declared when it ran. Is it declared otherwise by now, its listing says nothing.
4. What cannot be taken in is not in force; it is tried again, and costs nobody but that server.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio
import structlog
from anyio import CapacityLimiter, to_thread

from mcpguard.codec.fingerprints import of_observed
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.connections import ConnectionState
from mcpguard.domain.decisions import Actor, Key, Unknown
from mcpguard.domain.errors import LedgerUnavailable, Unreadable
from mcpguard.domain.identity import ObservedIdentity
from mcpguard.domain.launches import Declared
from mcpguard.domain.listings import Listing
from mcpguard.domain.news import Changes, Listed, Removed, Stood
from mcpguard.domain.pins import Pin
from mcpguard.domain.standing import CapabilityMove, CapabilityStanding
from mcpguard.guard import facts
from mcpguard.guard.known import Known
from mcpguard.guard.settling import Settling
from mcpguard.guard.standings import Change, Standings
from mcpguard.policy import quarantine
from mcpguard.policy.pinning import Outcome, identity_changed
from mcpguard.policy.reconciling import Read, read, reconciled

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

AGAIN_SECONDS = 1.0
SHARE = 9
AT_ONCE = 2
_TRIED = {ConnectionState.READY, ConnectionState.ERROR, ConnectionState.AUTHENTICATING}
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class Taken:
    """What a listing had in it, and what of that was not known before."""

    capabilities: int
    new: int = 0
    changed: int = 0
    returned: int = 0
    gone: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)


class Intake:
    """Takes news as they come. `run` has to run for listings to be taken in."""

    def __init__(self, standings: Standings, clock: Clock, new_id: Ids, most: int) -> None:
        self.settling = Settling()
        self._standings = standings
        self._registry = standings.registry
        self._clock = clock
        self._new_id = new_id
        self._most = most
        self._limiter = CapacityLimiter(AT_ONCE)
        self._newest: dict[str, Listed] = {}
        self._busy: set[str] = set()
        self._rests: dict[str, float] = {}
        self._tasks: TaskGroup | None = None

    async def run(self) -> None:
        """Until cancelled."""
        async with anyio.create_task_group() as self._tasks:
            for server in tuple(self._newest):
                self._work(server)
            await anyio.sleep_forever()

    def take(self, news: Changes) -> None:
        """What the fleet has to tell. Nothing here waits."""
        match news:
            case Listed(server):
                self._newest[server] = news
                self._work(server)
            case Removed(server):
                self._rests.pop(server, None)
                self.settling.tried(server)
            case Stood(server, condition):
                if condition.state in _TRIED and server not in self._newest and server not in self._busy:
                    self.settling.tried(server)
                if (known := self._registry.find(server)) is not None:
                    known.announce()

    async def take_in(
        self, known: Known, declared: Declared, listing: Listing, by: Actor | None = None, *, runs: bool = True
    ) -> Taken:
        """Compare a listing with what is known. `runs`: it is that of the connection which calls use.

        Raises Unreadable for a server of which no identity can be told, and LedgerUnavailable.
        """
        observed = of_observed(ObservedIdentity(listing.server, listing.capabilities))
        said = await to_thread.run_sync(read, listing, limiter=self._limiter, abandon_on_cancel=True)
        taken = Taken(0)

        def compared(known: Known) -> Change | None:
            nonlocal taken
            if known.declared.launch != declared.launch or known.upstream.removed:
                return None
            change, taken = self._compared(known, observed, said, by)
            left_out = tuple(what if times == 1 else f"{what}, {times} times" for what, times in said.odd.items())
            return replace(change, listing=listing, odd=left_out) if runs else change

        await self._standings.change(known, compared)
        return taken

    def _work(self, server: str) -> None:
        if self._tasks is not None and server not in self._busy:
            self._busy.add(server)
            self._tasks.start_soon(self._serve, server, name=f"intake of {server}")

    async def _serve(self, server: str) -> None:
        try:
            while server in self._newest:
                left = self._rests.pop(server, 0.0) - self._clock.monotonic()
                if left > 0:
                    await self._clock.sleep(left)
                listed, began = self._newest.pop(server), self._clock.monotonic()
                known = self._registry.find(server)
                done = known is None or await self._taken(known, listed)
                ended = self._clock.monotonic()
                self._rests[server] = ended + max(SHARE * (ended - began), 0.0 if done else AGAIN_SECONDS)
                if done:
                    self.settling.tried(server)
                else:
                    self._newest.setdefault(server, listed)
        finally:
            self._busy.discard(server)

    async def _taken(self, known: Known, listed: Listed) -> bool:
        """Whether there is nothing more to do about this listing."""
        try:
            await self.take_in(known, listed.declared, listed.listing)
        except LedgerUnavailable:
            return False
        except Unknown:
            log.debug("intake.removed", server=known.name)
        except Unreadable as error:
            log.warning("intake.unreadable", server=known.name, why=str(error))
        except Exception:
            log.exception("intake.failed", server=known.name)
        return True

    def _compared(self, known: Known, observed: Fingerprint, said: Read, by: Actor | None) -> tuple[Change, Taken]:
        before, pins = known.upstream, dict(known.pins)
        moved = quarantine.observed(before, observed)
        recorded: list[facts.Fact] = []
        if moved.move is not None:
            recorded.append(facts.moved(moved.upstream, moved.move, before))
            outcomes = {key: identity_changed(pin) for key, pin in pins.items()}
            recorded += facts.of_moves(moved.upstream, ((pins[key], outcome) for key, outcome in outcomes.items()))
            pins = {key: outcome.pin for key, outcome in outcomes.items()}
        done = reconciled(before.id, pins.values(), said, self._new_id)
        forgotten = self._surplus(pins, done.outcomes)
        after = {(outcome.pin.kind, outcome.pin.name): outcome for outcome in done.outcomes}
        changed = {key: outcome.pin for key, outcome in after.items() if key not in forgotten}
        changed |= {key: pin for key, pin in pins.items() if pin != known.pins[key] and key not in after}
        recorded += facts.of_moves(moved.upstream, ((pins[key], now) for key, now in after.items() if key in pins))
        taken = _counted(known.pins, after, said)
        counts = {"new": taken.new, "changed": taken.changed, "returned": taken.returned, "gone": taken.gone}
        if any(counts.values()) or by is not None:
            said_of = {"capabilities": taken.capabilities, "left_out": sum(said.odd.values())}
            recorded.append(facts.listed(moved.upstream, by, **counts, **said_of))
        news = {pin.id for key, pin in changed.items() if key not in pins or pins[key].listed != pin.listed}
        change = Change(
            moved.upstream,
            known.declared,
            tuple(changed.values()),
            frozenset(forgotten),
            tuple(recorded),
            tuple(seen for seen in done.seen if seen.pin in news),
            tuple((pin.id, pin.listed) for pin in pins.values() if pin.listed is not None and pin.id in news),
        )
        return change, taken

    def _surplus(self, pins: Mapping[Key, Pin], outcomes: tuple[Outcome, ...]) -> set[Key]:
        """What is gone, and was never decided about, is forgotten where there is too much of it."""
        after = {**pins, **{(outcome.pin.kind, outcome.pin.name): outcome.pin for outcome in outcomes}}
        if len(after) <= self._most:
            return set()
        undecided = (
            key
            for key, pin in after.items()
            if key in pins and not pin.present and pin.standing is CapabilityStanding.PENDING and pin.rejected is None
        )
        return set(undecided)


def _counted(before: Mapping[Key, Pin], after: Mapping[Key, Outcome], said: Read) -> Taken:
    counts: Counter[str] = Counter()
    for key, outcome in after.items():
        old = before.get(key)
        counts["new"] += old is None
        counts["gone"] += old is not None and old.present and not outcome.pin.present
        counts["returned"] += outcome.move is CapabilityMove.RETURNED
        counts["changed"] += old is not None and outcome.pin.listed != old.listed
    return Taken(len(said.found), counts["new"], counts["changed"], counts["returned"], counts["gone"], dict(said.odd))
