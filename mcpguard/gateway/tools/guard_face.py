"""The guard face: a few tools of our own, with which an agent finds other servers' tools and calls them.

It shows nothing of any server by itself. So it costs an agent the same however much stands behind it, and it never
changes.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import Pinned, Shelf
from mcpguard.domain.calls import calls
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.gateway.faces.face import Meant
from mcpguard.gateway.tools.definitions import offered
from mcpguard.settings.model import Settings


class Guarding:
    """Names of its own tools mean those; other names mean nothing here."""

    word = calls.Face.GUARD
    key = "guard"

    def __init__(self, settings: Settings) -> None:
        self.own = offered(settings)

    def shelves(self, _catalog: Catalog) -> Iterable[Shelf]:
        return ()

    def instructions(self, _catalog: Catalog) -> Mapping[str, str]:
        return {}

    def shown(self, pinned: Pinned) -> dict[str, Any]:
        return dict(pinned.definition)

    def named(self, _catalog: Catalog, kind: CapabilityKind, name: str) -> Capability:
        return Capability("", kind, name)

    def resource(self, _catalog: Catalog, uri: str) -> Meant:
        return Meant(Capability("", CapabilityKind.RESOURCE, uri))

    def uri(self, _server: str, own: str) -> str:
        return own

    def template(self, _catalog: Catalog, uri: str) -> Capability:
        return Capability("", CapabilityKind.TEMPLATE, uri)
