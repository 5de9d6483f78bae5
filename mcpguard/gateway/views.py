"""The part of the catalog that a caller sees.

A server out of a caller's scope does not exist for it: not in lists, not in the capabilities of the endpoint, and not
where a name or a URI could mean two things.
"""

from functools import partial

from mcpguard.catalog.catalog import Catalog
from mcpguard.domain.callers import Scope
from mcpguard.policy.scopes import is_server_in_scope

MOST = 256


class CatalogViews:
    """Remembers each scope's part of the catalog, for as long as the catalog stays the same."""

    def __init__(self) -> None:
        self._of = Catalog()
        self._views: dict[tuple[str, ...], Catalog] = {}

    def in_scope(self, catalog: Catalog, scope: Scope) -> Catalog:
        """Return the part of the catalog that is in this scope."""
        if catalog is not self._of or len(self._views) >= MOST:
            self._of = catalog
            self._views.clear()
        view = self._views.get(scope.servers)
        if view is None:
            view = self._views[scope.servers] = catalog.restrict_to(partial(is_server_in_scope, scope))
        return view
