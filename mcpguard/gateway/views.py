"""The part of the catalog that a caller sees.

A server out of a caller's scope does not exist for it: not in lists, not in the capabilities of the endpoint, and not
where a name or a URI could mean two things.
"""

from functools import partial

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import CatalogEntry
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.policy.scopes import is_in_scope, is_server_in_scope

MOST = 256
NamedTool = tuple[Capability, CatalogEntry | None]
"""What a name means, and the entry of it if it is offered within the scope."""


class ScopedCatalog:
    """The part of one catalog that is in a scope, and what was looked up in it by the names of its tools."""

    def __init__(self, catalog: Catalog, scope: Scope) -> None:
        self.whole = catalog
        self.catalog = catalog.restrict_to(partial(is_server_in_scope, scope))
        self.tools: dict[tuple[str, str], NamedTool] = {}
        """What was looked up, by the face and the name there."""
        self._scope = scope

    def tool(self, face: AgentFace, name: str) -> NamedTool:
        """Return what a name means at a face."""
        named = self.tools.get((face.key, name))
        if named is None:
            capability = face.named_capability(self.catalog, CapabilityKind.TOOL, name)
            named = capability, self.find(capability)
            if named[1] is not None:  # only what there is: names that agents invent are without end
                self.tools[face.key, name] = named
        return named

    def find(self, capability: Capability) -> CatalogEntry | None:
        """Return the entry of a capability, if it is offered within the scope."""
        pinned = self.catalog.find(capability.server, capability.kind, capability.name)
        return pinned if pinned is not None and is_in_scope(self._scope, capability) else None


class CatalogViews:
    """Remembers each scope's part of the catalog, for as long as the catalog stays the same."""

    def __init__(self) -> None:
        self._of = Catalog()
        self._views: dict[tuple[tuple[str, ...], tuple[str, ...]], ScopedCatalog] = {}

    def in_scope(self, catalog: Catalog, scope: Scope) -> ScopedCatalog:
        """Return the part of the catalog that is in this scope."""
        if catalog is not self._of or len(self._views) >= MOST:
            self._of = catalog
            self._views.clear()
        view = self._views.get((scope.servers, scope.tools))
        if view is None:
            view = self._views[scope.servers, scope.tools] = ScopedCatalog(catalog, scope)
        return view
