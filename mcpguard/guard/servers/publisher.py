"""The only place that replaces the catalog, and that notifies its subscribers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mcpguard.catalog.catalog import Catalog
from mcpguard.domain.capabilities import CapabilityKind


@dataclass(frozen=True, slots=True)
class CatalogChange:
    """The kinds of capabilities that have changed. `by`: the server that says so, where nothing offered has changed."""

    kinds: frozenset[CapabilityKind]
    by: str = ""


Subscriber = Callable[[CatalogChange], None]


class Publisher:
    """Holds the catalog in force, and tells subscribers when it changes."""

    def __init__(self) -> None:
        self.catalog = Catalog()
        self._subscribers: set[Subscriber] = set()

    def publish(self, catalog: Catalog) -> None:
        """Replace the catalog: from now on, this is what may be found and called."""
        before, self.catalog = self.catalog, catalog
        changed = frozenset(
            kind
            for kind in (CapabilityKind.TOOL, CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE, CapabilityKind.PROMPT)
            if list(before.entries(kind)) != list(catalog.entries(kind))
        )
        if changed:
            self._tell(CatalogChange(changed))

    def announce(self, server: str, kinds: frozenset[CapabilityKind]) -> None:
        """Pass on that a server says its lists have changed, although nothing is offered otherwise than before."""
        if kinds:
            self._tell(CatalogChange(kinds, by=server))

    def _tell(self, changed: CatalogChange) -> None:
        # A copy: a subscriber may unsubscribe when it is told.
        for subscriber in tuple(self._subscribers):
            subscriber(changed)

    @contextmanager
    def subscription(self, subscriber: Subscriber) -> Iterator[None]:
        """Tell `subscriber`, which cannot wait, of every change while the block runs."""
        self._subscribers.add(subscriber)
        try:
            yield
        finally:
            self._subscribers.discard(subscriber)
