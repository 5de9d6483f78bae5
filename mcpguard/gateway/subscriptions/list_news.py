"""What clients are told when something else is offered than before.

Rules kept here:
1. A client hears of a list that is different for it, and of no other: what happens beyond its face and its scope is
   none of its business.
2. The notification says which list, and not in what it differs.
3. A server that says itself that its list has changed is believed towards clients that see something of that list.
"""

from collections.abc import Callable

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import Pinned
from mcpguard.codec.messages import Notification
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.gateway.clients import Client
from mcpguard.gateway.lists import offered
from mcpguard.guard.servers.publisher import CatalogChange

_METHODS = {
    CapabilityKind.TOOL: "notifications/tools/list_changed",
    CapabilityKind.RESOURCE: "notifications/resources/list_changed",
    CapabilityKind.TEMPLATE: "notifications/resources/list_changed",
    CapabilityKind.PROMPT: "notifications/prompts/list_changed",
}
For = Callable[[Client], tuple[Notification, ...]]


class News:
    """Remembers the catalog of which clients have heard."""

    def __init__(self, catalog: Catalog) -> None:
        self._heard = catalog

    def of(self, catalog: Catalog, changed: CatalogChange) -> For:
        """What is new in this catalog, for each client."""
        before, self._heard = self._heard, catalog
        told: dict[object, tuple[Notification, ...]] = {}

        def news(client: Client) -> tuple[Notification, ...]:
            key = client.face.key, client.caller.scope
            if key not in told:
                kinds = [kind for kind in sorted(changed.kinds) if _is_new(client, kind, before, catalog, changed.by)]
                methods = dict.fromkeys(_METHODS[kind] for kind in kinds)
                told[key] = tuple(Notification(method) for method in methods)
            return told[key]

        return news


def _is_new(client: Client, kind: CapabilityKind, before: Catalog, catalog: Catalog, by: str) -> bool:
    """Whether the client sees another list, or one with something of the server that says it has changed."""
    seen = _seen(client, kind, catalog)
    return any(each.capability.server == by for each in seen) if by else _seen(client, kind, before) != seen


def _seen(client: Client, kind: CapabilityKind, catalog: Catalog) -> list[Pinned]:
    return list(offered(client.face, kind, client.caller.scope, catalog))
