"""The transparent face: one server, under its own names, for clients that expect to speak to exactly that server."""

from collections.abc import Iterable, Mapping
from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import CatalogEntry, Shelf
from mcpguard.domain.calls import calls
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.gateway.faces.coverage import covering
from mcpguard.gateway.faces.face import NamedCapability


class TransparentFace:
    """Shows one server and renames nothing."""

    word = calls.Face.TRANSPARENT
    own = ()

    def __init__(self, server: str) -> None:
        self._server = server
        self.key = f"transparent:{server}"

    def shelves(self, catalog: Catalog) -> Iterable[Shelf]:
        shelf = catalog.shelves.get(self._server)
        return [shelf] if shelf else []

    def instructions(self, catalog: Catalog) -> Mapping[str, str]:
        return {shelf.server: shelf.instructions for shelf in self.shelves(catalog) if shelf.instructions}

    def shown_definition(self, pinned: CatalogEntry) -> dict[str, Any]:
        return dict(pinned.definition)

    def named_capability(self, _catalog: Catalog, kind: CapabilityKind, name: str) -> Capability:
        return Capability(self._server, kind, name)

    def resource(self, catalog: Catalog, uri: str) -> NamedCapability:
        shelf = catalog.shelves.get(self._server)
        return NamedCapability(
            Capability(self._server, CapabilityKind.RESOURCE, uri), covering(shelf, uri) if shelf else None
        )

    def uri(self, _server: str, own: str) -> str:
        return own

    def template(self, catalog: Catalog, uri: str) -> Capability:
        shelf = catalog.shelves.get(self._server)
        listed = shelf is not None and uri in shelf.entries_of(CapabilityKind.RESOURCE)
        return Capability(self._server, CapabilityKind.RESOURCE if listed else CapabilityKind.TEMPLATE, uri)
