"""`subscriptions/listen`: a request of the modern era that stays open, and on which a client hears of what changes.

Rules kept here:
1. The first thing said says what will be heard: of what was asked for, the part that there is. Nothing else is heard.
2. It ends when the client takes it back, or with an answer when the guard stops.
3. However many listen, what is new is worked out once for all who see the same.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio

from mcpguard.codec import envelope
from mcpguard.codec.messages import Notification
from mcpguard.gateway.exchange import Exchange
from mcpguard.gateway.news import For, News
from mcpguard.guard.publish import Changed, Publisher

_FIELDS = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}


class Listening:
    """Answers these requests."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._closing = anyio.Event()
        self._open = 0

    def close(self) -> None:
        self._closing.set()

    async def answer(self, exchange: Exchange, params: Mapping[str, Any]) -> dict[str, Any]:
        """Returns when nothing more will be heard."""
        honoured = [field for field in _FIELDS if params["notifications"].get(field) is True]
        methods = {_FIELDS[field] for field in honoured}
        ours = {envelope.SUBSCRIPTION: exchange.id}

        def tell(changed: Changed) -> None:
            for told in self._new(changed)(exchange.client):
                if told.method in methods:
                    exchange.say(Notification(told.method, {"_meta": ours}))

        with self._counted(), self._publisher.subscribed(tell):
            agreed = {"notifications": dict.fromkeys(honoured, True), "_meta": ours}
            exchange.say(Notification("notifications/subscriptions/acknowledged", agreed))
            await self._closing.wait()
        return {"_meta": ours}

    @contextmanager
    def _counted(self) -> Iterator[None]:
        if not self._open:  # nobody has followed what changed until now
            self._catalog = self._publisher.catalog
            self._news = News(self._catalog)
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    def _new(self, changed: Changed) -> For:
        catalog = self._publisher.catalog
        if catalog is not self._catalog:
            self._catalog = catalog
            self._latest = self._news.of(catalog, changed)
        return self._latest
