"""The catalog: what each server offers, in an order that does not change by itself.

Rules kept here:
1. A snapshot never changes. Whoever holds one sees one state of things, however long it takes.
2. A look-up finds exactly one thing or none. Names that could mean two things mean neither.
3. What cannot be offered (no name, a name that grows too long, two alike) is left out, and `odd` says so.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from mcpguard.catalog.shelf import Pinned, Shelf
from mcpguard.codec.names import SEPARATORS, qualified
from mcpguard.domain.capabilities import CapabilityKind


@dataclass(frozen=True)
class Catalog:
    """A snapshot of everything that is offered."""

    shelves: Mapping[str, Shelf] = field(default_factory=lambda: MappingProxyType({}))

    def with_shelf(self, shelf: Shelf) -> "Catalog":
        shelves = {**self.shelves, shelf.server: shelf}
        return Catalog(MappingProxyType(dict(sorted(shelves.items()))))

    def without(self, server: str) -> "Catalog":
        return Catalog(MappingProxyType({name: shelf for name, shelf in self.shelves.items() if name != server}))

    def only(self, wanted: Callable[[str], bool]) -> "Catalog":
        """What these servers offer. It is the catalog itself if that is everything."""
        shelves = {name: shelf for name, shelf in self.shelves.items() if wanted(name)}
        return self if len(shelves) == len(self.shelves) else Catalog(MappingProxyType(shelves))

    def pinned(self, kind: CapabilityKind) -> Iterator[Pinned]:
        """Everything of this kind, by server and then as the server listed it."""
        for shelf in self.shelves.values():
            yield from shelf.of(kind).values()

    def find(self, server: str, kind: CapabilityKind, name: str) -> Pinned | None:
        shelf = self.shelves.get(server)
        return shelf.of(kind).get(name) if shelf else None

    def qualified(self, kind: CapabilityKind, name: str) -> tuple[Pinned, ...]:
        """What a name of the direct face means: with any separator, so it may be more than one thing."""
        return self._qualified[kind].get(name, ())

    def entitled(self, kind: CapabilityKind, title: str) -> Sequence[Pinned]:
        """What has this name beside its URI."""
        return self._entitled[kind].get(title, ())

    @cached_property
    def _entitled(self) -> Mapping[CapabilityKind, Mapping[str, Sequence[Pinned]]]:
        titles: dict[CapabilityKind, dict[str, list[Pinned]]] = {}
        for kind in (CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE):
            found = titles[kind] = {}
            for one in self.pinned(kind):
                title = one.definition.get("name")
                if isinstance(title, str) and title:
                    found.setdefault(title, []).append(one)
        return titles

    @cached_property
    def _qualified(self) -> Mapping[CapabilityKind, Mapping[str, tuple[Pinned, ...]]]:
        names: dict[CapabilityKind, dict[str, tuple[Pinned, ...]]] = {}
        for kind in (CapabilityKind.TOOL, CapabilityKind.PROMPT):
            found: dict[str, tuple[Pinned, ...]] = {}
            for one in self.pinned(kind):
                for separator in SEPARATORS:
                    name = qualified(one.capability.server, one.capability.name, separator)
                    found[name] = (*found.get(name, ()), one)
            names[kind] = found
        return names
