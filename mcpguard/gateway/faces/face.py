"""What every face can do.

Rules for whoever writes one:
1. What it shows can be said back to it, and means exactly that.
2. A name that means nothing still names a capability, so that the refusal of it can be recorded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import Pinned, Shelf
from mcpguard.domain.calls import calls
from mcpguard.domain.capabilities import Capability, CapabilityKind


@dataclass(frozen=True, slots=True)
class Meant:
    """The capability that a client named, and the one in the catalog that covers it: itself, or a template."""

    capability: Capability
    pinned: Capability | None = None


class AgentFace(Protocol):
    """One shape that the guard shows to agents."""

    @property
    def word(self) -> calls.Face: ...

    @property
    def key(self) -> str:
        """Sessions belong to exactly one face; this tells them apart."""
        ...

    @property
    def own(self) -> tuple[Mapping[str, Any], ...]:
        """The definitions of tools that are the face's own."""
        ...

    def shelves(self, catalog: Catalog) -> Iterable[Shelf]:
        """The servers whose capabilities are shown, in order."""
        ...

    def instructions(self, catalog: Catalog) -> Mapping[str, str]:
        """The instructions that a client is greeted with, by their servers."""
        ...

    def shown(self, pinned: Pinned) -> dict[str, Any]:
        """A definition as clients see it."""
        ...

    def named(self, catalog: Catalog, kind: CapabilityKind, name: str) -> Capability:
        """What the name of a tool or a prompt means."""
        ...

    def resource(self, catalog: Catalog, uri: str) -> Meant:
        """What the URI of a resource means."""
        ...

    def uri(self, server: str, own: str) -> str:
        """A resource's URI as clients see it."""
        ...

    def template(self, catalog: Catalog, uri: str) -> Capability:
        """What a template means, or the resource that is given in its place."""
        ...
