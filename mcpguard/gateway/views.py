"""What of the catalog a caller sees.

A server beyond a caller's scope does not exist for it: not in lists, not in what the endpoint says that it can do, and
not where a name or a URI could mean two things.
"""

from functools import partial

from mcpguard.catalog.catalog import Catalog
from mcpguard.domain.callers import Scope
from mcpguard.policy.scopes import reaches

MOST = 256


class CatalogViews:
    """Remembers them, for as long as the catalog stays the same."""

    def __init__(self) -> None:
        self._of = Catalog()
        self._views: dict[tuple[str, ...], Catalog] = {}

    def of(self, catalog: Catalog, scope: Scope) -> Catalog:
        """The part of the catalog that this scope reaches."""
        if catalog is not self._of or len(self._views) >= MOST:
            self._of = catalog
            self._views.clear()
        view = self._views.get(scope.servers)
        if view is None:
            view = self._views[scope.servers] = catalog.only(partial(reaches, scope))
        return view
