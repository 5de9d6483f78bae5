"""One server's part of the catalog: each entry by its own name, in the order in which the server listed it.

Keys that only the guard may use are removed from the definitions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from mcpguard.codec.envelope import without_our_keys
from mcpguard.codec.headers.mirrored_arguments import mirrored_arguments
from mcpguard.codec.names import LONGEST_QUALIFIED, qualified_name
from mcpguard.codec.uris import LONGEST_URI, wrap_uri
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.servers.listings import INSTRUCTIONS, KEYS, Definition, Listing

Effects = Callable[[CapabilityKind, str], Effect | None]
"""The effect of a capability, by kind and name; None for what is not offered."""
Times = Callable[[CapabilityKind, str], int]
"""When a capability was approved, by kind and name."""
_LONGEST_PREFIX = 100
"""Characters that the direct face puts before a template."""


@dataclass(frozen=True)
class CatalogEntry:
    """A capability with the definition that it has now, and the effect that goes with exactly that definition."""

    capability: Capability
    definition: Definition
    effect: Effect
    approved_since: int = 0

    @cached_property
    def mirrors(self) -> bool:
        """Whether calls repeat arguments of this tool in HTTP headers."""
        return bool(mirrored_arguments(self.definition.get("inputSchema")))


@dataclass(frozen=True, slots=True)
class Shelf:
    """One server's part of the catalog."""

    server: str
    kinds: Mapping[CapabilityKind, Mapping[str, CatalogEntry]]
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    odd: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    """URIs below which every resource may be read."""
    instructions: str = ""
    """The server's instructions, if a reviewer has approved exactly these."""

    def entries_of(self, kind: CapabilityKind) -> Mapping[str, CatalogEntry]:
        """Return what the server offers of this kind, by name."""
        return self.kinds.get(kind, MappingProxyType({}))


def make_shelf(
    server: str, listing: Listing, effect: Effects, prefixes: tuple[str, ...] = (), since: Times = lambda *_: 0
) -> Shelf:
    """Return the part of the catalog for a listing: all of it that is approved, and so has an effect."""
    odd: Counter[str] = Counter()
    kinds = {kind: _pinned(server, kind, listing.of_kind(kind), (effect, since), odd) for kind in KEYS}
    left_out = tuple(what if times == 1 else f"{what}, {times} times" for what, times in odd.items())
    has_approved = effect(CapabilityKind.INSTRUCTIONS, INSTRUCTIONS) is not None
    instructions = (listing.instructions or "") if has_approved else ""
    return Shelf(server, MappingProxyType(kinds), listing.capabilities, left_out, prefixes, instructions)


def _pinned(
    server: str, kind: CapabilityKind, definitions: Iterable[Definition], said: tuple[Effects, Times], odd: Counter[str]
) -> Mapping[str, CatalogEntry]:
    effect, since = said
    entries: dict[str, CatalogEntry] = {}
    for definition in definitions:
        name = definition.get(KEYS[kind])
        if not isinstance(name, str) or not name or (assigned := effect(kind, name)) is None:
            continue
        if (longest := _outgrown(server, kind, name)) is not None:
            odd[f"a {kind} whose {KEYS[kind]} grows longer than {longest} characters"] += 1
        else:
            capability = Capability(server, kind, name)
            entries[name] = CatalogEntry(capability, without_our_keys(definition), assigned, since(kind, name))
    return MappingProxyType(entries)


def _outgrown(server: str, kind: CapabilityKind, name: str) -> int | None:
    """Return the limit that the name exceeds on the direct face; None if it does not."""
    match kind:
        case CapabilityKind.RESOURCE:
            longest, length = LONGEST_URI, len(wrap_uri(server, name))
        case CapabilityKind.TEMPLATE:
            longest, length = LONGEST_URI, _LONGEST_PREFIX + len(name)
        case _:
            longest, length = LONGEST_QUALIFIED, len(qualified_name(server, name, "::"))
    return longest if length > longest else None
