"""`subscriptions/listen`: a request of the modern era that stays open, on which a client is told of changes.

Rules kept here:
1. The first message says what will be told: the available part of what was asked for. Nothing else is told.
2. The request ends when the client cancels it, or with an answer when the guard stops, when the client's caller is
   revoked, and when a server is removed that the client listens to.
3. However many clients listen, news is worked out once for all who see the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import anyio

from mcpguard.codec import envelope
from mcpguard.codec.messages import Notification
from mcpguard.gateway.client_request import Exchange
from mcpguard.gateway.subscribed_uris import SubscribedUris
from mcpguard.gateway.subscriptions.list_news import For, ListNews
from mcpguard.gateway.subscriptions.subscribe import TOO_MANY, UPDATED, ResourceSubscriber
from mcpguard.gateway.wire import RequestRejected, ServerAnsweredError
from mcpguard.guard.guard import Guard
from mcpguard.guard.servers.publisher import CatalogChange

_FIELDS = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}
MOST_EARLY = 100
"""Resources that change while the others are still being asked for."""


class ListenRequests:
    """Answers `subscriptions/listen` requests."""

    def __init__(self, guard: Guard, subscribing: ResourceSubscriber) -> None:
        self._publisher = guard.servers.publisher
        self._tallies = guard.tallies
        self._subscribing = subscribing
        self._scopes: dict[anyio.CancelScope, str] = {}
        self._closed = False
        self._open = 0

    def close(self) -> None:
        self._closed = True
        for scope in self._scopes:
            scope.cancel()

    def end_caller(self, caller: str) -> None:
        """End the requests of a caller that was revoked."""
        for scope in [scope for scope, whose in self._scopes.items() if whose == caller]:
            scope.cancel()

    async def answer(self, exchange: Exchange, params: Mapping[str, Any]) -> dict[str, Any]:
        """Answer when nothing more will be told."""
        wanted = params["notifications"]
        told = _Told(exchange, [field for field in _FIELDS if wanted.get(field) is True])
        with closing(SubscribedUris()) as subscribed, self._until_ended(exchange.client.caller.id) as scope:
            if uris := wanted.get("resourceSubscriptions"):
                await self._subscribe(told, dict.fromkeys(uris), subscribed, scope)
            with self._counted(), self._publisher.subscription(lambda changed: told.tell_change(self._new(changed))):
                told.acknowledge()
                await anyio.sleep_forever()
        told.acknowledge()
        return {"_meta": told.ours}

    async def _subscribe(
        self, told: "_Told", uris: Iterable[str], subscribed: SubscribedUris, scope: anyio.CancelScope
    ) -> None:
        """Request all subscriptions at once. Those that fail are not acknowledged."""
        every = [*uris]
        door = told.exchange.client.door

        async def one(uri: str) -> None:
            try:
                await self._subscribing.add(told.exchange, {"uri": uri}, subscribed, told.tell_update, scope.cancel)
            except RequestRejected as rejected:
                if rejected.why:
                    self._tallies.count_refused(door=door, why=rejected.why)
            except ServerAnsweredError:
                return
            else:
                agreed.add(uri)

        agreed: set[str] = set()
        async with anyio.create_task_group() as tasks:
            for uri in every[: self._subscribing.most]:
                tasks.start_soon(one, uri, name="subscription of a listen")
        if len(every) > self._subscribing.most:
            self._tallies.count_refused(door=door, why=TOO_MANY)
        told.resources = [uri for uri in every if uri in agreed]

    @contextmanager
    def _until_ended(self, caller: str) -> Iterator[anyio.CancelScope]:
        """Leave the block when the guard stops, when the caller is revoked, or when the scope is cancelled."""
        with anyio.CancelScope() as scope:
            self._scopes[scope] = caller
            if self._closed:
                scope.cancel()
            try:
                yield scope
            finally:
                del self._scopes[scope]

    @contextmanager
    def _counted(self) -> Iterator[None]:
        if not self._open:  # nobody has followed what changed until now
            self._changed: CatalogChange | None = None
            self._news = ListNews(self._publisher.catalog)
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    def _new(self, changed: CatalogChange) -> For:
        if changed is not self._changed:
            self._changed = changed
            self._latest = self._news.news_for_clients(self._publisher.catalog, changed)
        return self._latest


class _Told:
    """What one client is told. Nothing is sent before the message that says what will be told."""

    def __init__(self, exchange: Exchange, lists: Iterable[str]) -> None:
        self.exchange = exchange
        self.resources: list[str] = []
        self.ours = {envelope.SUBSCRIPTION: exchange.id}
        self._lists = [*lists]
        self._methods = {_FIELDS[field] for field in self._lists}
        self._early: dict[str, None] = {}
        self._acknowledged = False

    def acknowledge(self) -> None:
        if self._acknowledged:
            return
        self._acknowledged = True
        agreed: dict[str, Any] = dict.fromkeys(self._lists, True)
        if self.resources:
            agreed["resourceSubscriptions"] = self.resources
        self._say("notifications/subscriptions/acknowledged", notifications=agreed)
        for uri in self._early:
            self.tell_update(uri)

    def tell_change(self, news: For) -> None:
        for told in news(self.exchange.client):
            if told.method in self._methods:
                self._say(told.method)

    def tell_update(self, uri: str) -> None:
        if self._acknowledged:
            self._say(UPDATED, uri=uri)
        elif len(self._early) < MOST_EARLY:
            self._early[uri] = None

    def _say(self, method: str, **params: Any) -> None:  # noqa: ANN401 - JSON
        self.exchange.say(Notification(method, {**params, "_meta": self.ours}))
