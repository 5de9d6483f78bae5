"""Compares a listing with the known pins: which capabilities are new, unchanged, changed or gone.

Rules kept here:
1. A definition is compared as a whole, by its fingerprint. An unreadable one has none, nor has a name that is listed
   twice with different definitions: neither can be approved, and if it was approved before, it is `changed`.
2. A capability is identified by kind and name. One whose name cannot be stored is left out and counted.
3. A capability that is not listed is gone and keeps its status. Instructions are a capability like any other.
4. The order of a listing does not matter; processing the same listing again changes nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from mcpguard.codec.exact import exact_json
from mcpguard.codec.fingerprints import definition_fingerprint
from mcpguard.domain.capabilities import CapabilityKind, Fingerprint
from mcpguard.domain.clock import Ids
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.errors import Unreadable
from mcpguard.domain.servers.listings import INSTRUCTIONS, KEYS, Listing
from mcpguard.domain.servers.pins import Pin
from mcpguard.policy.pin_changes import PinChange, mark_gone, mark_listed

LONGEST_NAME: Final = 2500
"""In bytes of UTF-8: names are indexed, and the index of one of the databases takes no longer ones."""


@dataclass(frozen=True, slots=True)
class SeenDefinition:
    """A listed definition in its exact form."""

    pin: str
    fingerprint: Fingerprint
    definition: bytes


@dataclass(frozen=True, slots=True)
class ReadListing:
    """The listed capabilities, with fingerprints and exact forms, and how many of which kind were left out (`odd`)."""

    found: Mapping[CapabilityKey, tuple[Fingerprint | None, bytes]]
    odd: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The result of a comparison. `outcomes`: the pins that are new or have changed in any respect."""

    outcomes: tuple[PinChange, ...]
    seen: tuple[SeenDefinition, ...]


def read_listing(listing: Listing) -> ReadListing:
    """Return the capabilities of a listing. A large listing takes long, without waiting for anything."""
    odd: Counter[str] = Counter()
    found: dict[CapabilityKey, tuple[Fingerprint | None, bytes]] = {}
    for kind, name, definition in named_definitions(listing, odd):
        now = _print(kind, definition)
        before = found.get((kind, name), now)
        found[kind, name] = now if before[0] == now[0] else (None, b"")
        if before[0] != now[0]:
            odd[f"a {kind} that is listed twice, differently"] += 1
    return ReadListing(MappingProxyType(found), odd)


def reconcile(
    upstream: str, pins: Iterable[Pin], said: ReadListing, new_id: Ids, grave: frozenset[CapabilityKey] = frozenset()
) -> Reconciliation:
    """Return the pins of a server after this listing. `grave`: the capabilities with grave findings."""
    known = {(pin.kind, pin.name): pin for pin in pins}
    outcomes, seen = [], []
    for (kind, name), (fingerprint, definition) in said.found.items():
        pin = known.get((kind, name))
        if pin is None:
            outcome = PinChange(Pin(new_id(), upstream, kind, name, fingerprint))
        else:
            outcome = mark_listed(pin, fingerprint, grave=(kind, name) in grave)
        if outcome.pin != pin:
            outcomes.append(outcome)
        if fingerprint is not None:
            seen.append(SeenDefinition(outcome.pin.id, fingerprint, definition))
    missing = [mark_gone(pin) for key, pin in known.items() if key not in said.found and pin.present]
    return Reconciliation((*outcomes, *missing), tuple(seen))


def named_definitions(listing: Listing, odd: Counter[str]) -> Iterator[tuple[CapabilityKind, str, object]]:
    """Yield each definition with its kind and name, instructions as text. Those without a name are counted in `odd`."""
    if listing.instructions is not None:
        yield CapabilityKind.INSTRUCTIONS, INSTRUCTIONS, listing.instructions
    lists = (
        (CapabilityKind.TOOL, listing.tools),
        (CapabilityKind.RESOURCE, listing.resources),
        (CapabilityKind.TEMPLATE, listing.templates),
        (CapabilityKind.PROMPT, listing.prompts),
    )
    for kind, definitions in lists:
        for definition in definitions:
            name = definition.get(KEYS[kind])
            if isinstance(name, str) and _can_be_kept(name):
                yield kind, name, definition
            else:
                odd[f"a {kind} without a name that could be kept"] += 1


def _can_be_kept(name: str) -> bool:
    return 0 < len(name.encode(errors="surrogatepass")) <= LONGEST_NAME and "\0" not in name


def _print(kind: CapabilityKind, definition: object) -> tuple[Fingerprint | None, bytes]:
    try:
        return definition_fingerprint(kind, definition), exact_json(definition)
    except Unreadable:
        return None, b""
