"""Subscriptions to resources, as clients of both eras request them.

Rules kept here:
1. Each subscription is a call: judged, recorded, and sent to the server by `guard.calls`.
2. A client is told of an update under its own URI for the resource, and of parts of it under the face's URI, if they
   are in its scope.
3. The number of subscriptions of a client is bounded.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mcpguard.codec.messages import Notification
from mcpguard.codec.uris import LONGEST_URI
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.gateway.client_request import Exchange, call_request
from mcpguard.gateway.clients import Client
from mcpguard.gateway.faces.face import NamedCapability
from mcpguard.gateway.subscribed_uris import SubscribedUris
from mcpguard.gateway.wire import REFUSED, RequestRejected, ServerAnsweredError, refused_error
from mcpguard.guard.calls.refusals import refusal
from mcpguard.guard.guard import Guard
from mcpguard.policy.scopes import is_in_scope

SUBSCRIBE = "resources/subscribe"
UPDATED = "notifications/resources/updated"
TOO_MANY = "too many subscriptions"
Tell = Callable[[str], None]


class ResourceSubscriber:
    """Subscribes clients. `meant` returns what a URI means to a client, or raises RequestRejected."""

    def __init__(self, guard: Guard, meant: Callable[[Client, str], NamedCapability]) -> None:
        self.most = guard.settings.limits.subscriptions
        self._guard = guard
        self._meant = meant

    async def subscribe(self, exchange: Exchange, params: Mapping[str, Any]) -> dict[str, Any]:
        """Answer `resources/subscribe` of a session or stream that began with a handshake."""
        client = exchange.client

        def tell(uri: str) -> None:
            client.tell(Notification(UPDATED, {"uri": uri}))

        await self.add(exchange, params, client.subscribed, tell)
        return {}

    async def unsubscribe(self, exchange: Exchange, params: Mapping[str, Any]) -> dict[str, Any]:
        exchange.client.subscribed.end(params["uri"])
        return {}

    async def add(
        self,
        exchange: Exchange,
        params: Mapping[str, Any],
        to: SubscribedUris,
        tell: Tell,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        """Subscribe a client. Raises RequestRejected, or ServerAnsweredError with the server's error.

        `on_end` is called when the subscription ends from the server's side; without it, the subscription is forgotten.
        """
        words = params["uri"]
        if words not in to and len(to) >= self.most:
            raise RequestRejected(REFUSED, f"this client is subscribed to {self.most} resources, the limit", TOO_MANY)
        meant = self._meant(exchange.client, words)
        capability = meant.capability
        subscription = self._guard.servers.subscriptions.open(
            capability.server,
            capability.name,
            _under(meant),
            to,
            self._in_words(exchange.client, capability, words, tell),
            on_end or (lambda: to.lose(words, subscription)),
        )
        to.begin(words, subscription)
        agreed = False
        try:
            said = {**params, "uri": capability.name}
            told = await self._guard.calls.handle(
                call_request(exchange, SUBSCRIBE, capability, said, pinned=meant.pinned, watcher=subscription), exchange
            )
            agreed = told.result is not None
        finally:
            (to.hold if agreed else to.lose)(words, subscription)
        if told.error is not None:
            raise ServerAnsweredError(told.error)
        if not agreed:
            raise refused_error(refusal(told), exchange.client.era, words)

    def _in_words(self, client: Client, capability: Capability, words: str, tell: Tell) -> Tell:
        def on_update(uri: str) -> None:
            if uri == capability.name:
                tell(words)
            elif is_in_scope(client.caller.scope, Capability(capability.server, CapabilityKind.RESOURCE, uri)):
                shown = client.face.uri(capability.server, uri)
                if len(shown) <= LONGEST_URI:
                    tell(shown)

        return on_update


def _under(meant: NamedCapability) -> CapabilityKey:
    """The capability that allows it."""
    found = meant.pinned or meant.capability
    return found.kind, found.name
