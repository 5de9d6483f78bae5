"""Who speaks with a simulated server: the state that belongs to a client rather than to the server."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import anyio

from tests.simulators.words import SUBSCRIPTION_ID, Id, Json, Say, notification, unheard

LIST_FIELDS = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
UPDATED = "notifications/resources/updated"


@dataclass(eq=False)
class Party:
    """A client's connection or session. What the legacy era remembers between requests is here."""

    push: Say = unheard
    version: str = ""
    initialized: bool = False  # whether it has said so
    capabilities: Json = field(default_factory=dict)
    level: str = "debug"
    subscribed: set[str] = field(default_factory=set)
    running: dict[Id, anyio.CancelScope] = field(default_factory=dict)

    def wants(self, method: str, params: Mapping[str, object]) -> bool:
        """Whether a notification that belongs to no request goes to this legacy client."""
        return self.initialized and (method != UPDATED or params.get("uri") in self.subscribed)


@dataclass(eq=False)
class Listen:
    """An open `subscriptions/listen` of the modern era."""

    id: Id
    wanted: Json
    say: Say
    closed: anyio.Event = field(default_factory=anyio.Event)
    turn: anyio.Lock = field(default_factory=anyio.Lock)

    def wants(self, method: str, params: Mapping[str, object]) -> bool:
        if method == UPDATED:
            return params.get("uri") in self.wanted.get("resourceSubscriptions", [])
        return bool(self.wanted.get(LIST_FIELDS.get(method, "")))

    async def notify(self, method: str, params: Json) -> None:
        """Say it in its turn, so that nothing overtakes the acknowledgement."""
        meta = params.get("_meta", {}) | {SUBSCRIPTION_ID: self.id}
        async with self.turn:
            await self.say(notification(method, params | {"_meta": meta}))
