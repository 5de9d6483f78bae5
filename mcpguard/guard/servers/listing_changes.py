"""Computes what a listing changes, by comparing it with the known state. Nothing is carried out here.

Rules kept here:
1. The server's identity comes first: if it has changed, all its approvals are forgotten.
2. Capabilities that are gone and were never decided about are forgotten if there are too many.
3. Changes are recorded with the listing; an unchanged listing leaves no record.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.clock import Ids
from mcpguard.domain.decisions import Actor, CapabilityKey
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityMove, CapabilityStanding
from mcpguard.guard.servers import facts
from mcpguard.guard.servers.listed_findings import ListedFindings, findings_to_store
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.repeated_findings import RepeatedFindings
from mcpguard.guard.servers.standings import ServerChange
from mcpguard.policy import quarantine
from mcpguard.policy.pin_changes import PinChange, mark_identity_changed
from mcpguard.policy.reconciliation import ReadListing, reconcile


@dataclass(frozen=True, slots=True)
class ListingCounts:
    """How much a listing contains, and how much of that is new, changed, returned or gone."""

    capabilities: int
    new: int = 0
    changed: int = 0
    returned: int = 0
    gone: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HeardListing:
    """A listing that was read and inspected: the identity of its server, what was listed, and the findings."""

    identity: Fingerprint
    artifact: str | None
    said: ReadListing
    found: ListedFindings


class ListingComparison:
    """Compares listings with what is known. At most `most` capabilities of one server are remembered."""

    def __init__(self, retelling: RepeatedFindings, new_id: Ids, most: int) -> None:
        self._retelling = retelling
        self._new_id = new_id
        self._most = most

    def compare(self, known: ServerState, heard: HeardListing, by: Actor | None) -> tuple[ServerChange, ListingCounts]:
        """The change to make, and its counts."""
        before, pins, said, found = known.upstream, dict(known.pins), heard.said, heard.found
        moved = quarantine.observe(before, heard.identity, heard.artifact)
        recorded: list[facts.Fact] = []
        # Another identity behind the same name: no approval of the old one may carry over to it.
        if moved.move is not None:
            recorded.append(facts.server_move(moved.upstream, moved.move, before))
            outcomes = {key: mark_identity_changed(pin) for key, pin in pins.items()}
            recorded += facts.capability_moves(
                moved.upstream, ((pins[key], outcome) for key, outcome in outcomes.items())
            )
            pins = {key: outcome.pin for key, outcome in outcomes.items()}
        done = reconcile(before.id, pins.values(), said, self._new_id, found.grave)
        forgotten = self._surplus(pins, done.outcomes)
        after = {(outcome.pin.kind, outcome.pin.name): outcome for outcome in done.outcomes}
        changed = {key: outcome.pin for key, outcome in after.items() if key not in forgotten}
        changed |= {key: pin for key, pin in pins.items() if pin != known.pins[key] and key not in after}
        recorded += facts.capability_moves(
            moved.upstream, ((pins[key], now) for key, now in after.items() if key in pins)
        )
        taken = _counted(known.pins, after, said)
        counts = {"new": taken.new, "changed": taken.changed, "returned": taken.returned, "gone": taken.gone}
        then, now = known.found.summary, found.summary
        if any(counts.values()) or by is not None or self._retelling.is_due(known.name, before.id, then, now):
            said_of = {"capabilities": taken.capabilities, "left_out": sum(said.odd.values())}
            recorded.append(facts.new_listing(moved.upstream, now, by, **counts, **said_of))
        news = {pin.id for key, pin in changed.items() if key not in pins or pins[key].listed != pin.listed}
        change = ServerChange(
            moved.upstream,
            known.declared,
            tuple(changed.values()),
            frozenset(forgotten),
            tuple(recorded),
            tuple(seen for seen in done.seen if seen.pin in news),
            tuple((pin.id, pin.listed) for pin in pins.values() if pin.listed is not None and pin.id in news),
            found=found,
            refound=tuple(findings_to_store(known.found, found, {**pins, **changed}, news)),
        )
        return change, taken

    def _surplus(self, pins: Mapping[CapabilityKey, Pin], outcomes: tuple[PinChange, ...]) -> set[CapabilityKey]:
        """The capabilities to forget where there are too many: those that are gone and were never decided about."""
        after = {**pins, **{(outcome.pin.kind, outcome.pin.name): outcome.pin for outcome in outcomes}}
        if len(after) <= self._most:
            return set()
        # A server that renames its tools all the time must not fill the memory. What was decided about stays for ever.
        undecided = (
            key
            for key, pin in after.items()
            if key in pins and not pin.present and pin.standing is CapabilityStanding.PENDING and pin.rejected is None
        )
        return set(undecided)


def change_of_program(declared: DeclaredServer, known: ServerState) -> ServerChange | None:
    """The change for a server whose program is another than the observed one; None where `declared` is out of date."""
    if not known.runs or known.runnable != declared:
        return None
    moved = quarantine.mark_altered(known.upstream)
    outcomes = [(pin, mark_identity_changed(pin)) for pin in known.pins.values()]
    said = [*facts.capability_moves(moved.upstream, outcomes)]
    if moved.move is not None:
        said.insert(0, facts.server_move(moved.upstream, moved.move, known.upstream))
    pins = tuple(now.pin for pin, now in outcomes if now.pin != pin)
    return ServerChange(moved.upstream, known.declared, pins, facts=tuple(said))


def _counted(
    before: Mapping[CapabilityKey, Pin], after: Mapping[CapabilityKey, PinChange], said: ReadListing
) -> ListingCounts:
    counts: Counter[str] = Counter()
    for key, outcome in after.items():
        old = before.get(key)
        counts["new"] += old is None
        counts["gone"] += old is not None and old.present and not outcome.pin.present
        counts["returned"] += outcome.move is CapabilityMove.RETURNED
        counts["changed"] += old is not None and outcome.pin.listed != old.listed
    return ListingCounts(
        len(said.found), counts["new"], counts["changed"], counts["returned"], counts["gone"], dict(said.odd)
    )
