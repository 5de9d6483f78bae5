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
_Names = tuple[str, ...]
NamedTool = tuple[Capability, CatalogEntry | None]
"""What a name means, and the entry of it if it is offered within the scope."""


class ScopedCatalog:
    """The part of one catalog that is in a scope."""

    def __init__(self, catalog: Catalog, scope: Scope) -> None:
        self.catalog = catalog.restrict_to(partial(is_server_in_scope, scope))
        self._scope = scope

    def find(self, capability: Capability) -> CatalogEntry | None:
        """Return the entry of a capability, if it is offered within the scope."""
        pinned = self.catalog.find(capability.server, capability.kind, capability.name)
        return pinned if pinned is not None and is_in_scope(self._scope, capability) else None

    def is_free(self, tool: Capability) -> bool:
        """Tell whether answers of a tool may have any structure: it is offered within the scope, without an output
        schema. A tool that is not offered now may have been, with a schema that the client remembers.
        """
        pinned = self.find(tool)
        return pinned is not None and "outputSchema" not in pinned.definition


class CatalogViews:
    """Remembers each scope's part of the catalog, for as long as the catalog stays the same."""

    def __init__(self) -> None:
        self.of = Catalog()
        """The catalog of which parts are remembered."""
        self.tools: dict[tuple[_Names, _Names, str, str], NamedTool] = {}
        """What was looked up in it, by the scope, the key of the face, and the name at that face."""
        self._views: dict[tuple[_Names, _Names], ScopedCatalog] = {}

    def in_scope(self, catalog: Catalog, scope: Scope) -> ScopedCatalog:
        """Return the part of the catalog that is in this scope."""
        if catalog is not self.of or len(self._views) >= MOST:
            self.of = catalog
            self._views.clear()
            self.tools.clear()
        view = self._views.get((scope.servers, scope.tools))
        if view is None:
            view = self._views[scope.servers, scope.tools] = ScopedCatalog(catalog, scope)
        return view

    def look_up(self, catalog: Catalog, scope: Scope, face: AgentFace, name: str) -> NamedTool:
        """Return what the name of a tool means at a face, and remember it if it is offered."""
        view = self.in_scope(catalog, scope)
        capability = face.named_capability(view.catalog, CapabilityKind.TOOL, name)
        named = capability, view.find(capability)
        if named[1] is not None:  # only what there is: names that agents invent are without end
            self.tools[scope.servers, scope.tools, face.key, name] = named
        return named
