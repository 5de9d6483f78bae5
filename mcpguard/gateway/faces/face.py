"""What every face can do.

Rules for whoever writes one:
1. What it shows can be said back to it, and means exactly that.
2. A name that means nothing still names a capability, so that the refusal of it can be recorded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import CatalogEntry, Shelf
from mcpguard.domain.calls import calls
from mcpguard.domain.capabilities import Capability, CapabilityKind


@dataclass(frozen=True, slots=True)
class NamedCapability:
    """The capability that a client named, and the one in the catalog that covers it: itself, or a template."""

    capability: Capability
    pinned: Capability | None = None


class AgentFace(Protocol):
    """One shape in which agents see what is behind the guard."""

    @property
    def word(self) -> calls.Face: ...

    @property
    def key(self) -> str:
        """Identifies the face. A session belongs to exactly one."""
        ...

    @property
    def own(self) -> tuple[Mapping[str, Any], ...]:
        """The definitions of the face's own tools."""
        ...

    def shelves(self, catalog: Catalog) -> Iterable[Shelf]:
        """Return the servers whose capabilities are shown, in order."""
        ...

    def instructions(self, catalog: Catalog) -> Mapping[str, str]:
        """Return the instructions that greet a client, by server."""
        ...

    def shown_definition(self, pinned: CatalogEntry) -> dict[str, Any]:
        """Return a definition as clients see it."""
        ...

    def named_capability(self, catalog: Catalog, kind: CapabilityKind, name: str) -> Capability:
        """Return the tool or prompt that a name means."""
        ...

    def resource(self, catalog: Catalog, uri: str) -> NamedCapability:
        """Return the resource that a URI means."""
        ...

    def uri(self, server: str, own: str) -> str:
        """Return a resource's URI as clients see it."""
        ...

    def template(self, catalog: Catalog, uri: str) -> Capability:
        """Return the template that a URI means, or the resource that is named in its place."""
        ...
