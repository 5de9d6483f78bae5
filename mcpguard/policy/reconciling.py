"""What a server listed, against what is known of it: which capabilities are new, the same, different, or gone.

Rules kept here:
1. Every definition counts whole, by its fingerprint. What cannot be read has none, and so has a name that is listed
   twice with different definitions: neither can be approved, and what was approved before is `changed`.
2. A capability is its kind and its name. What has no name that could be kept is left out, and counted.
3. What is not listed is gone, and stands where it stood. Instructions are a capability like any other.
4. The order in which a server lists things means nothing here; the same listing twice changes nothing the second time.
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
from mcpguard.domain.decisions import Key
from mcpguard.domain.errors import Unreadable
from mcpguard.domain.servers.listings import INSTRUCTIONS, KEYS, Listing
from mcpguard.domain.servers.pins import Pin
from mcpguard.policy.pinning import PinChange, gone, listed

LONGEST_NAME: Final = 2500
"""Bytes in UTF-8: every store finds a capability by its name, and the index of one of them holds no longer ones."""


@dataclass(frozen=True, slots=True)
class SeenDefinition:
    """A definition that was listed, in its exact form."""

    pin: str
    fingerprint: Fingerprint
    definition: bytes


@dataclass(frozen=True, slots=True)
class ReadListing:
    """Each capability that was listed, with its fingerprint and exact form; and what was left out, and how often."""

    found: Mapping[Key, tuple[Fingerprint | None, bytes]]
    odd: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What is known after a listing. `outcomes` are those that are new or different than before, in any respect."""

    outcomes: tuple[PinChange, ...]
    seen: tuple[SeenDefinition, ...]


def read(listing: Listing) -> ReadListing:
    """What a listing says. Where a server lists much it takes long, and waits for nothing."""
    odd: Counter[str] = Counter()
    found: dict[Key, tuple[Fingerprint | None, bytes]] = {}
    for kind, name, definition in named(listing, odd):
        now = _print(kind, definition)
        before = found.get((kind, name), now)
        found[kind, name] = now if before[0] == now[0] else (None, b"")
        if before[0] != now[0]:
            odd[f"a {kind} that is listed twice, differently"] += 1
    return ReadListing(MappingProxyType(found), odd)


def reconciled(
    upstream: str, pins: Iterable[Pin], said: ReadListing, new_id: Ids, grave: frozenset[Key] = frozenset()
) -> Reconciled:
    """What becomes of the pins of an upstream whose listing said this. `grave`: in what something grave was found."""
    known = {(pin.kind, pin.name): pin for pin in pins}
    outcomes, seen = [], []
    for (kind, name), (fingerprint, definition) in said.found.items():
        pin = known.get((kind, name))
        if pin is None:
            outcome = PinChange(Pin(new_id(), upstream, kind, name, fingerprint))
        else:
            outcome = listed(pin, fingerprint, grave=(kind, name) in grave)
        if outcome.pin != pin:
            outcomes.append(outcome)
        if fingerprint is not None:
            seen.append(SeenDefinition(outcome.pin.id, fingerprint, definition))
    missing = [gone(pin) for key, pin in known.items() if key not in said.found and pin.present]
    return Reconciled((*outcomes, *missing), tuple(seen))


def named(listing: Listing, odd: Counter[str]) -> Iterator[tuple[CapabilityKind, str, object]]:
    """Each definition under its name, instructions as their text. What has no name is counted in `odd`."""
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
