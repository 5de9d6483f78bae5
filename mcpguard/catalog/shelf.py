"""What one server offers: each thing by its own name, in the order in which the server listed it.

What only the guard may say is not in it, whoever looks.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from mcpguard.codec.envelope import theirs
from mcpguard.codec.names import LONGEST_QUALIFIED, qualified
from mcpguard.codec.uris import LONGEST_URI, wrapped
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.servers.listings import INSTRUCTIONS, KEYS, Definition, Listing

Effects = Callable[[CapabilityKind, str], Effect | None]
"""The effect of a capability, by kind and name; None for what is not offered."""
_LONGEST_PREFIX = 100
"""Of a template on the direct face."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A capability with the definition that it has now, and the effect that goes with exactly that definition."""

    capability: Capability
    definition: Definition
    effect: Effect


@dataclass(frozen=True, slots=True)
class Shelf:
    """One server's part of the catalog."""

    server: str
    kinds: Mapping[CapabilityKind, Mapping[str, Pinned]]
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    odd: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    """Below these URIs every resource may be read."""
    instructions: str = ""
    """What the server says of how to use it, where a person has approved exactly that."""

    def of(self, kind: CapabilityKind) -> Mapping[str, Pinned]:
        return self.kinds.get(kind, MappingProxyType({}))


def shelf(server: str, listing: Listing, effect: Effects, prefixes: tuple[str, ...] = ()) -> Shelf:
    """The part of the catalog that a listing makes: of what it lists, all that has an effect."""
    odd: Counter[str] = Counter()
    kinds = {kind: _pinned(server, kind, listing.of(kind), effect, odd) for kind in KEYS}
    left_out = tuple(what if times == 1 else f"{what}, {times} times" for what, times in odd.items())
    has_approved = effect(CapabilityKind.INSTRUCTIONS, INSTRUCTIONS) is not None
    instructions = (listing.instructions or "") if has_approved else ""
    return Shelf(server, MappingProxyType(kinds), listing.capabilities, left_out, prefixes, instructions)


def _pinned(
    server: str, kind: CapabilityKind, definitions: Iterable[Definition], effect: Effects, odd: Counter[str]
) -> Mapping[str, Pinned]:
    found: dict[str, Pinned] = {}
    for definition in definitions:
        name = definition.get(KEYS[kind])
        if not isinstance(name, str) or not name or (assigned := effect(kind, name)) is None:
            continue
        if (longest := _outgrown(server, kind, name)) is not None:
            odd[f"a {kind} whose {KEYS[kind]} grows longer than {longest} characters"] += 1
        else:
            found[name] = Pinned(Capability(server, kind, name), theirs(definition), assigned)
    return MappingProxyType(found)


def _outgrown(server: str, kind: CapabilityKind, name: str) -> int | None:
    """The length that it would exceed on the direct face, if it does."""
    match kind:
        case CapabilityKind.RESOURCE:
            longest, length = LONGEST_URI, len(wrapped(server, name))
        case CapabilityKind.TEMPLATE:
            longest, length = LONGEST_URI, _LONGEST_PREFIX + len(name)
        case _:
            longest, length = LONGEST_QUALIFIED, len(qualified(server, name, "::"))
    return longest if length > longest else None
