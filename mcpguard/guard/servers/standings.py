"""The only place that changes the status of servers and capabilities.

Rules kept here:
1. A change and its records are one transaction. What cannot be recorded does not happen.
2. What restricts takes effect before it is stored, what permits after: no call is judged by more than is stored.
3. When something leaves `approved`, its calls are cut off, subscriptions to it end, and a server that should no longer
   run is stopped, all at once.
4. A server whose declaration changes, or that is restarted, is reconnected. The new connection has no subscriptions, so
   they end.
5. Changes to one server run one after another, and none stays half done because its client disconnects.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import anyio

from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor, CapabilityKey, NameTaken, Unknown
from mcpguard.domain.findings import InspectionFindings
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.servers.facts import Fact
from mcpguard.guard.servers.listed_findings import ListedFindings
from mcpguard.guard.servers.publisher import Publisher
from mcpguard.guard.servers.registry import Registry, ServerState
from mcpguard.guard.servers.running_calls import RunningCalls
from mcpguard.guard.servers.subscriptions import Subscription, Subscriptions
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.policy.pin_changes import date_approval
from mcpguard.policy.prefixes import is_under_prefix
from mcpguard.policy.reconciliation import SeenDefinition
from mcpguard.settings.model import Settings
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.readers import Readers
from mcpguard.store.files.seals import Seal
from mcpguard.store.rows import pins as stored_pins
from mcpguard.store.rows import upstreams as stored_upstreams
from mcpguard.store.rows import versions as stored_versions
from mcpguard.upstreams.supervise.fleet import Fleet


@dataclass(frozen=True, slots=True)
class ServerChange:
    """A server as it is to be: which of its pins change, which are forgotten, and what is recorded.

    `seen` are definitions that were not listed before; `left` those that were listed until now, each with its pin;
    `refound` those with other findings than before, each with its pin and the findings.
    """

    upstream: Upstream
    declared: DeclaredServer
    pins: tuple[Pin, ...] = ()
    forgotten: frozenset[CapabilityKey] = frozenset()
    facts: tuple[Fact, ...] = ()
    seen: tuple[SeenDefinition, ...] = ()
    left: tuple[tuple[str, Fingerprint], ...] = ()
    listing: Listing | None = None
    """What the server has listed, running or inspected. Calls rest on it once the connection that they use lists it."""
    odd: tuple[str, ...] = ()
    """What the server lists that cannot be offered, in sentences."""
    found: ListedFindings | None = None
    """The findings in all that is listed, if it was inspected."""
    refound: tuple[tuple[str, Fingerprint, InspectionFindings], ...] = ()
    restarts: bool = False
    """Whether the server is stopped and started again, unchanged."""

    def is_stored(self, known: ServerState) -> bool:
        """Tell whether the change has anything to store."""
        same = self.upstream == known.upstream and self.declared == known.declared
        same = same and self.rests_on(known) == known.found.kept_digest
        return not same or bool(self.pins or self.forgotten or self.facts or self.refound)

    def rests_on(self, known: ServerState) -> bytes:
        """What the kept findings rest on after the change."""
        if self.upstream.removed:
            return b""
        return (known.found if self.found is None else self.found).kept_digest

    def pins_after(self, known: ServerState) -> dict[CapabilityKey, Pin]:
        kept = {key: pin for key, pin in known.pins.items() if key not in self.forgotten}
        return kept | {(pin.kind, pin.name): pin for pin in self.pins}


class Standings:
    """Changes the status of servers and their capabilities."""

    def __init__(
        self,
        registry: Registry,
        publisher: Publisher,
        cutting: RunningCalls,
        ledger: Ledger,
        readers: Readers,
        seal: Seal,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self.registry = registry
        self.publisher = publisher
        self.subscriptions = Subscriptions(self._unwatch)
        self._cutting = cutting
        self._ledger = ledger
        self._readers = readers
        self._seal = seal
        self._clock = clock
        self._versions = settings.definitions.versions
        self._adding = anyio.Lock()
        self._fleet: Fleet | None = None
        """Nothing runs before there is one, so until then there is nothing to start, stop or tell."""

    def command(self, fleet: Fleet) -> None:
        """Have this fleet start and stop servers from now on."""
        self._fleet = fleet

    async def change(self, known: ServerState, decide: Callable[[ServerState], ServerChange | None]) -> bool:
        """Carry out what `decide` makes of the server as it stands now; whether that is anything.

        Raises Unknown, LedgerUnavailable and what `decide` raises; then nothing has changed.
        """
        # Shielded: a client that hangs up must not leave a change half done, in memory and not in the store.
        with anyio.CancelScope(shield=True):
            async with known.lock:
                if known.upstream.removed:
                    raise Unknown(f"{known.name} was removed")
                # Decided under the lock, from the server as it is now: what was seen before waiting for the lock may be
                # stale.
                if (change := decide(known)) is not None:
                    change = replace(change, pins=tuple(date_approval(pin, self._clock.now()) for pin in change.pins))
                    await self._carry_out(known, change)
                    if change.upstream.removed:
                        self.registry.bury(known)
        return change is not None

    async def add(self, known: ServerState, fact: Fact, by: Actor) -> None:
        """Add a server. Raises Lapsed, NameTaken or LedgerUnavailable; then it was not added."""
        with anyio.CancelScope(shield=True):
            async with self._adding:
                by.check()
                # Under the lock: of two that add the same name at once, one is refused.
                if self.registry.find(known.name) is not None:
                    raise NameTaken(f"a server named {known.name} exists already; change it, or choose another name")
                change = ServerChange(known.upstream, known.declared, facts=(fact,))
                await self._ledger.transact(partial(self._store, known, change))
                self.registry.add(known)

    async def catch_up(self, name: str) -> None:
        """Read this server from the store, which may have more than we were told: a failure can come too late."""
        known = self.registry.find(name)
        if known is None:
            return
        with anyio.CancelScope(shield=True):
            async with known.lock:
                id_ = known.upstream.id
                found = await self._readers.run(lambda connection: _found(connection, id_, self._seal))
                if found is not None:
                    before = known.declared.launch
                    known.upstream, known.declared, known.pins, known.found = found
                    if known.declared.launch != before:
                        known.listing = None
                    self.show(known)
                    self.want()

    def show(self, known: ServerState) -> None:
        """Publish what agents may find of a server now. To be called after every change to it."""
        self.registry.note_change()
        shelf = known.shelf()
        catalog = self.publisher.catalog
        if shelf is not None:
            self.publisher.publish(catalog.with_shelf(shelf))
        elif known.name in catalog.shelves:
            self.publisher.publish(catalog.without_server(known.name))
        known.announce()

    def want(self) -> None:
        """Have exactly those servers run that are approved and enabled."""
        self._want_all(known for known in self.registry if known.runs)

    def _want_all(self, servers: Iterable[ServerState]) -> None:
        if self._fleet is not None:
            self._fleet.want(known.runnable for known in servers)

    def _unwatch(self, subscription: Subscription) -> None:
        if self._fleet is not None:
            self._fleet.unwatch(subscription.server, subscription.uri, subscription)

    async def _carry_out(self, known: ServerState, change: ServerChange) -> None:
        before = known.upstream, known.declared, known.pins
        asked_before = known.upstream.may_ask
        stored, done = change.is_stored(known), False
        # Narrow first: a crash between the two leaves less allowed, never more.
        self._narrow(known, change)
        try:
            if stored:
                await self._ledger.transact(partial(self._store, known, change))
            done = True
        finally:
            # It was not stored: give back what was taken away. Calls that were cut off meanwhile stay cut off.
            if not done:
                known.upstream, known.declared, known.pins = before
                self.show(known)
                self.want()
        known.upstream, known.declared, known.pins = change.upstream, change.declared, change.pins_after(known)
        # The listing of the old program says nothing about the new one.
        if change.declared.launch != before[1].launch:
            known.listing = None
        if change.listing is not None:
            known.listing, known.odd, known.listed_at = change.listing, change.odd, self._clock.now()
        if change.found is not None:
            known.found = change.found
        self.show(known)
        self.want()
        if change.declared != before[1] or change.restarts:
            self.subscriptions.withdraw(known.name, lambda _: True)
        if self._fleet is not None and change.restarts:
            self._fleet.start_again(known.name)
        elif self._fleet is not None and known.runs and known.upstream.may_ask != asked_before:
            self._fleet.restart(known.name)  # what it may ask is said when a connection is made

    def _narrow(self, known: ServerState, change: ServerChange) -> None:
        """Put into force at once whatever the change takes away."""
        after = ServerState(change.upstream, change.declared)
        stops = known.runs and (not after.runs or change.declared.launch != known.declared.launch)
        pins = change.pins_after(known)
        lost = {key for key, pin in known.pins.items() if pin.callable and not _as_callable(pin, pins.get(key))}
        prefixes = {*known.upstream.prefixes} - {*change.upstream.prefixes}
        if stops:
            known.upstream, known.declared = change.upstream, change.declared
            known.listing = None
        else:
            known.upstream = replace(
                known.upstream,
                may_ask=known.upstream.may_ask & change.upstream.may_ask,
                prefixes=tuple(each for each in known.upstream.prefixes if each not in prefixes),
            )
        if lost:
            known.pins = {key: pins.get(key, pin) if key in lost else pin for key, pin in known.pins.items()}
        if not (stops or lost or prefixes):
            return
        self.show(known)

        # It has left the catalog above, so no new call takes the place of one that is cut off now.
        def is_lost(key: CapabilityKey) -> bool:
            return stops or key in lost or is_under_prefix(prefixes, key[1])

        self._cutting.cut(known.name, is_lost)
        self.subscriptions.withdraw(known.name, is_lost)
        if stops:
            self._want_all(each for each in self.registry if each.runs and each is not known)

    def _store(self, known: ServerState, change: ServerChange, connection: Connection, append: Append) -> None:
        now = self._clock.now()
        stored_upstreams.put(connection, change.upstream, change.declared, self._seal, change.rests_on(known))
        stored_pins.forget(connection, [known.pins[key].id for key in change.forgotten])
        stored_pins.put(connection, change.pins)
        found, news = {pin: inspected for pin, _, inspected in change.refound}, {seen.pin for seen in change.seen}
        for seen in change.seen:
            stored_versions.put_seen(connection, seen.pin, seen.fingerprint, seen.definition, now, found.get(seen.pin))
        for pin, fingerprint, inspected in change.refound:
            if pin not in news:
                stored_versions.put_findings(connection, pin, fingerprint, inspected)
        for pin, fingerprint in change.left:
            stored_versions.put_left(connection, pin, fingerprint, known.listed_at or now)
        several = {pin for pin, _ in change.left}
        for each in change.pins:
            if each.id in several:
                kept = frozenset(filter(None, (each.listed, each.approved, each.rejected)))
                stored_versions.prune(connection, each.id, kept, self._versions)
        if change.upstream.removed:
            stored_versions.forget_findings(connection, change.upstream.id)
        for fact in change.facts:
            append(fact.kind, fact.fields)


def capabilities(connection: Connection, upstream: str) -> tuple[dict[CapabilityKey, Pin], ListedFindings]:
    """Read the capabilities of a server from the store, with their findings."""
    pins = {(pin.kind, pin.name): pin for pin in stored_pins.pins_of(connection, upstream)}
    found = stored_versions.current_findings(connection, upstream)
    looked = {key: pin.listed for key, pin in pins.items() if pin.present and pin.listed is not None}
    of = {key: found[pin.id] for key, pin in pins.items() if pin.id in found}
    # Stored in one transaction with the definitions and their findings, so it is true of exactly these.
    return pins, ListedFindings(of, looked, stored_upstreams.findings_rest_on(connection, upstream))


def _found(
    connection: Connection, upstream: str, seal: Seal
) -> tuple[Upstream, DeclaredServer, dict[CapabilityKey, Pin], ListedFindings] | None:
    stored, declared = (
        stored_upstreams.find(connection, upstream),
        stored_upstreams.declaration(connection, upstream, seal),
    )
    return None if stored is None or declared is None else (stored, declared, *capabilities(connection, upstream))


def _as_callable(before: Pin, after: Pin | None) -> bool:
    return after is not None and after.callable and after.approved == before.approved
