"""The catalog: what each server offers, in a stable order.

Rules kept here:
1. A snapshot never changes. A caller that holds one sees a single consistent state, however long it takes.
2. A look-up finds exactly one entry or none. An ambiguous name finds nothing.
3. What cannot be offered (no name, a name that becomes too long, a duplicate) is left out and reported in `Shelf.odd`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from mcpguard.catalog.shelf import CatalogEntry, Shelf
from mcpguard.codec.names import SEPARATORS, qualified_name
from mcpguard.domain.capabilities import CapabilityKind


@dataclass(frozen=True)
class Catalog:
    """A snapshot of everything that is offered."""

    shelves: Mapping[str, Shelf] = field(default_factory=lambda: MappingProxyType({}))

    def with_shelf(self, shelf: Shelf) -> "Catalog":
        """Return the catalog with this part in place of the server's earlier one."""
        shelves = {**self.shelves, shelf.server: shelf}
        return Catalog(MappingProxyType(dict(sorted(shelves.items()))))

    def without_server(self, server: str) -> "Catalog":
        """Return the catalog without what this server offers."""
        return Catalog(MappingProxyType({name: shelf for name, shelf in self.shelves.items() if name != server}))

    def restrict_to(self, wanted: Callable[[str], bool]) -> "Catalog":
        """Return the catalog of the servers that are wanted; this very catalog if those are all."""
        shelves = {name: shelf for name, shelf in self.shelves.items() if wanted(name)}
        return self if len(shelves) == len(self.shelves) else Catalog(MappingProxyType(shelves))

    def entries(self, kind: CapabilityKind) -> Iterator[CatalogEntry]:
        """Yield everything of this kind, by server and then as the server listed it."""
        for shelf in self.shelves.values():
            yield from shelf.entries_of(kind).values()

    def find(self, server: str, kind: CapabilityKind, name: str) -> CatalogEntry | None:
        """Return what a server offers by this kind and name; None if nothing."""
        shelf = self.shelves.get(server)
        return shelf.entries_of(kind).get(name) if shelf else None

    def by_qualified_name(self, kind: CapabilityKind, name: str) -> tuple[CatalogEntry, ...]:
        """Return what a name of the direct face stands for. With any separator allowed, it may be several things."""
        return self._qualified[kind].get(name, ())

    def by_title(self, kind: CapabilityKind, title: str) -> Sequence[CatalogEntry]:
        """Return the resources or templates that have this name beside their URI."""
        return self._entitled[kind].get(title, ())

    @cached_property
    def _entitled(self) -> Mapping[CapabilityKind, Mapping[str, Sequence[CatalogEntry]]]:
        titles: dict[CapabilityKind, dict[str, list[CatalogEntry]]] = {}
        for kind in (CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE):
            by_name = titles[kind] = {}
            for one in self.entries(kind):
                title = one.definition.get("name")
                if isinstance(title, str) and title:
                    by_name.setdefault(title, []).append(one)
        return titles

    @cached_property
    def _qualified(self) -> Mapping[CapabilityKind, Mapping[str, tuple[CatalogEntry, ...]]]:
        names: dict[CapabilityKind, dict[str, tuple[CatalogEntry, ...]]] = {}
        for kind in (CapabilityKind.TOOL, CapabilityKind.PROMPT):
            by_name: dict[str, tuple[CatalogEntry, ...]] = {}
            for one in self.entries(kind):
                for separator in SEPARATORS:
                    name = qualified_name(one.capability.server, one.capability.name, separator)
                    by_name[name] = (*by_name.get(name, ()), one)
            names[kind] = by_name
        return names
