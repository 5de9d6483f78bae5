"""Subscriptions to resources, as clients of both eras ask for them.

Rules kept here:
1. Each is a call: judged, recorded, and asked of the server by `guard.calls`.
2. A client hears of what it subscribed to in its own words, and of a part of that as its face shows it, if it is within
   its scope.
3. How many a client may have is bounded.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mcpguard.codec.messages import Notification
from mcpguard.codec.uris import LONGEST_URI
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.decisions import Key
from mcpguard.gateway.client_request import Exchange
from mcpguard.gateway.clients import Client
from mcpguard.gateway.faces.face import Meant
from mcpguard.gateway.requested_call import asked
from mcpguard.gateway.subscribed_uris import Subscribed
from mcpguard.gateway.wire import REFUSED, Passed, Rejected, refused_error
from mcpguard.guard.calls.refusals import refusal
from mcpguard.guard.guard import Guard
from mcpguard.policy.scopes import within

SUBSCRIBE = "resources/subscribe"
UPDATED = "notifications/resources/updated"
TOO_MANY = "too many subscriptions"
Tell = Callable[[str], None]


class Subscribing:
    """Subscribes clients. `meant` says what a URI means to a client, or raises Rejected."""

    def __init__(self, guard: Guard, meant: Callable[[Client, str], Meant]) -> None:
        self.most = guard.settings.limits.subscriptions
        self._guard = guard
        self._meant = meant

    async def subscribe(self, exchange: Exchange, params: Mapping[str, Any]) -> dict[str, Any]:
        """`resources/subscribe`, of a session or a stream that began with a handshake."""
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
        to: Subscribed,
        tell: Tell,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        """Returns when the client is subscribed. Raises Rejected, or Passed with the server's error.

        `on_end`: what to do when it ends from our side; without it the subscription is forgotten.
        """
        words = params["uri"]
        if words not in to and len(to) >= self.most:
            raise Rejected(REFUSED, f"this client is subscribed to {self.most} resources, as many as may be", TOO_MANY)
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
            told = await self._guard.calls.make(asked(exchange, SUBSCRIBE, meant, said, subscription), exchange)
            agreed = told.result is not None
        finally:
            (to.hold if agreed else to.lose)(words, subscription)
        if told.error is not None:
            raise Passed(told.error)
        if not agreed:
            raise refused_error(refusal(told), exchange.client.era, words)

    def _in_words(self, client: Client, capability: Capability, words: str, tell: Tell) -> Tell:
        def on_update(uri: str) -> None:
            if uri == capability.name:
                tell(words)
            elif within(client.caller.scope, Capability(capability.server, CapabilityKind.RESOURCE, uri)):
                shown = client.face.uri(capability.server, uri)
                if len(shown) <= LONGEST_URI:
                    tell(shown)

        return on_update


def _under(meant: Meant) -> Key:
    """The capability that allows it."""
    found = meant.pinned or meant.capability
    return found.kind, found.name
