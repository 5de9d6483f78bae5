"""The one place where the catalog is replaced, and where those who show it hear of that."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mcpguard.catalog.catalog import Catalog
from mcpguard.domain.capabilities import CapabilityKind

Changed = frozenset[CapabilityKind]
"""The kinds of which something is different now."""
Subscriber = Callable[[Changed], None]


class Publisher:
    """Holds the catalog that is in force."""

    def __init__(self) -> None:
        self.catalog = Catalog()
        self._subscribers: set[Subscriber] = set()

    def publish(self, catalog: Catalog) -> None:
        """From now on, this is what may be found and called."""
        before, self.catalog = self.catalog, catalog
        changed = frozenset(
            kind
            for kind in (CapabilityKind.TOOL, CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE, CapabilityKind.PROMPT)
            if list(before.pinned(kind)) != list(catalog.pinned(kind))
        )
        if changed:
            for subscriber in tuple(self._subscribers):
                subscriber(changed)

    @contextmanager
    def subscribed(self, subscriber: Subscriber) -> Iterator[None]:
        """Tell `subscriber`, which cannot wait, of every change while the block runs."""
        self._subscribers.add(subscriber)
        try:
            yield
        finally:
            self._subscribers.discard(subscriber)
