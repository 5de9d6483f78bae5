"""What a client is greeted with: what it can use here, and the instructions of servers."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.domain.calls import calls
from mcpguard.gateway.clients import Client
from mcpguard.gateway.disclosure import disclosed_fields
from mcpguard.gateway.wire import US, instructions
from mcpguard.guard.traffic.tallies import Tallies

OFFERED: dict[str, dict[str, Any]] = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}
"""What the endpoint can do as soon as one server can, whatever that server says of it."""


class GatewayGreeting:
    """Greets clients. `settled` waits until what is starting has listed what it offers; `seen` returns the catalog."""

    def __init__(
        self, tallies: Tallies, settled: Callable[[Client], Awaitable[None]], seen: Callable[[Client], Catalog]
    ) -> None:
        self._tallies = tallies
        self._settled = settled
        self._seen = seen

    async def greet(self, client: Client, method: str) -> dict[str, Any]:
        """Return the greeting of a client. Raises RequestRejected for who is no caller any more."""
        await self._settled(client)
        face, catalog = client.face, self._seen(client)
        has: dict[str, Any] = {"tools": {}} if face.own else {}
        for shelf in face.shelves(catalog):
            has |= {name: said for name, said in OFFERED.items() if name in shelf.capabilities}
        greeting = {"capabilities": has, "serverInfo": US}
        if not (said := face.instructions(catalog)):
            return greeting
        self._tallies.count_disclosure(**disclosed_fields(client, method, [*said]))
        return greeting | {"instructions": instructions(said, merged=face.word is calls.Face.DIRECT)}
