"""The guard face: a few tools of our own, with which an agent finds other servers' tools and calls them.

It shows no server's definitions by itself. So it costs an agent the same however much stands behind it, and it never
changes.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import CatalogEntry, Shelf
from mcpguard.domain.calls import calls
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.gateway.faces.face import NamedCapability
from mcpguard.gateway.tools.definitions import tool_definitions
from mcpguard.settings.model import Settings


class GuardFace:
    """Shows its own tools only. Any other name means nothing here."""

    word = calls.Face.GUARD
    key = "guard"

    def __init__(self, settings: Settings) -> None:
        self.own = tool_definitions(settings)

    def shelves(self, _catalog: Catalog) -> Iterable[Shelf]:
        return ()

    def instructions(self, _catalog: Catalog) -> Mapping[str, str]:
        return {}

    def shown_definition(self, pinned: CatalogEntry) -> dict[str, Any]:
        return dict(pinned.definition)

    def named_capability(self, _catalog: Catalog, kind: CapabilityKind, name: str) -> Capability:
        return Capability("", kind, name)

    def resource(self, _catalog: Catalog, uri: str) -> NamedCapability:
        return NamedCapability(Capability("", CapabilityKind.RESOURCE, uri))

    def uri(self, _server: str, own: str) -> str:
        return own

    def template(self, _catalog: Catalog, uri: str) -> Capability:
        return Capability("", CapabilityKind.TEMPLATE, uri)
