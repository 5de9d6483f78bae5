"""Tells clients when the list that they see has changed.

Rules kept here:
1. A client is told of a list that is different for it, and of no other: what happens outside its face and scope is not
   disclosed to it.
2. The notification says which list, and not how it differs.
3. A server's own claim that its list has changed is passed on to clients that see something of that list.
"""

from collections.abc import Callable

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import CatalogEntry
from mcpguard.codec.messages import Notification
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.gateway.clients import Client
from mcpguard.gateway.lists import offered_capabilities
from mcpguard.guard.servers.publisher import CatalogChange

_METHODS = {
    CapabilityKind.TOOL: "notifications/tools/list_changed",
    CapabilityKind.RESOURCE: "notifications/resources/list_changed",
    CapabilityKind.TEMPLATE: "notifications/resources/list_changed",
    CapabilityKind.PROMPT: "notifications/prompts/list_changed",
}
For = Callable[[Client], tuple[Notification, ...]]


class ListNews:
    """Remembers the catalog that clients were told of last."""

    def __init__(self, catalog: Catalog) -> None:
        self._heard = catalog

    def news_for_clients(self, catalog: Catalog, changed: CatalogChange) -> For:
        """Return a function that gives the notifications of this change for each client."""
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
    """Tell whether the client's list differs, or has something of the server that says it has changed."""
    seen = _seen(client, kind, catalog)
    return any(each.capability.server == by for each in seen) if by else _seen(client, kind, before) != seen


def _seen(client: Client, kind: CapabilityKind, catalog: Catalog) -> list[CatalogEntry]:
    return list(offered_capabilities(client.face, kind, client.caller.scope, catalog))
