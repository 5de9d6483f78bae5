"""What one server offers: each thing by its own name, in the order in which the server listed it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from mcpguard.codec.names import LONGEST_QUALIFIED, qualified
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.listings import Definition, Listing

Effects = Callable[[CapabilityKind, Definition], Effect]
KEYS = {
    CapabilityKind.TOOL: "name",
    CapabilityKind.RESOURCE: "uri",
    CapabilityKind.TEMPLATE: "uriTemplate",
    CapabilityKind.PROMPT: "name",
}
"""The key of a definition that names it."""


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

    def of(self, kind: CapabilityKind) -> Mapping[str, Pinned]:
        return self.kinds.get(kind, MappingProxyType({}))


def shelf(server: str, listing: Listing, effect: Effects) -> Shelf:
    """The part of the catalog that a listing makes."""
    odd: list[str] = []
    lists = {
        CapabilityKind.TOOL: listing.tools,
        CapabilityKind.RESOURCE: listing.resources,
        CapabilityKind.TEMPLATE: listing.templates,
        CapabilityKind.PROMPT: listing.prompts,
    }
    kinds = {kind: _pinned(server, kind, definitions, effect, odd) for kind, definitions in lists.items()}
    return Shelf(server, MappingProxyType(kinds), listing.capabilities, tuple(odd))


def _pinned(
    server: str, kind: CapabilityKind, definitions: Iterable[Definition], effect: Effects, odd: list[str]
) -> Mapping[str, Pinned]:
    found: dict[str, Pinned] = {}
    twice: set[str] = set()
    for definition in definitions:
        name = definition.get(KEYS[kind])
        if not isinstance(name, str) or not name:
            odd.append(f"a {kind} without a name")
        elif kind in (CapabilityKind.TOOL, CapabilityKind.PROMPT) and _too_long(server, name):
            odd.append(f"a {kind} whose name grows longer than {LONGEST_QUALIFIED} characters")
        elif name in found and found[name].definition != definition:
            twice.add(name)
        else:
            found[name] = Pinned(Capability(server, kind, name), definition, effect(kind, definition))
    for name in twice:
        odd.append(f"a {kind} that is listed twice, differently")
        del found[name]
    return MappingProxyType(found)


def _too_long(server: str, name: str) -> bool:
    return len(qualified(server, name, "::")) > LONGEST_QUALIFIED
