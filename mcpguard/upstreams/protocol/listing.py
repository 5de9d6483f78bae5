"""Lists everything that a server offers.

Rules kept here:
1. A listing is complete or it fails: if a list cannot be read to its end within the limits, the whole listing is
   discarded.
2. A server is asked only for the lists that it announces. A list that it announces but then does not implement is
   treated as empty.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from mcpguard.codec.messages import dumps
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.listings import Definition, Listing
from mcpguard.upstreams.exchange.conversation import METHOD_NOT_FOUND, ServerError
from mcpguard.upstreams.protocol.negotiation import Greeting

Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
LONGEST_CURSOR = 64 * 1024


class ListingRefused(GuardError):
    """A list exceeds the limits, or is malformed."""


@dataclass(frozen=True, slots=True)
class ListingBounds:
    """Limits: pages and entries of one list, and bytes of all lists together."""

    pages: int = 100
    entries: int = 5000
    bytes: int = 16 * 1024 * 1024


async def list_everything(ask: Ask, greeting: Greeting, bounds: ListingBounds) -> Listing:
    """Return everything that the server offers. Raises ListingRefused, ServerError, or TransportEnded."""
    has, lists = greeting.capabilities, _Lists(ask, bounds)
    found = Listing(
        tools=await lists.read_to_end("tools/list", "tools") if "tools" in has else (),
        resources=await lists.read_to_end("resources/list", "resources") if "resources" in has else (),
        templates=await lists.read_to_end("resources/templates/list", "resourceTemplates")
        if "resources" in has
        else (),
        prompts=await lists.read_to_end("prompts/list", "prompts") if "prompts" in has else (),
        capabilities=has,
        server=greeting.server,
        instructions=greeting.instructions,
    )
    return replace(found, ttl=lists.ttl)


class _Lists:
    """Reads the lists of one server, and counts their bytes together."""

    def __init__(self, ask: Ask, bounds: ListingBounds) -> None:
        self._ask = ask
        self._bounds = bounds
        self._bytes = 0
        self.ttl: float | None = None
        """The shortest lifetime that any page has given, in seconds."""

    async def read_to_end(self, method: str, key: str) -> tuple[Definition, ...]:
        """Return all entries of one list."""
        found: list[Definition] = []
        seen: set[str] = set()
        params: dict[str, Any] = {}
        for _ in range(self._bounds.pages):
            page = await self._page(method, key, params)
            self._heed(page.get("ttlMs"))
            found += self._entries(method, key, page)
            if len(found) > self._bounds.entries:
                raise ListingRefused(f"{method} returns more than {self._bounds.entries} entries")
            cursor = page.get("nextCursor")
            if cursor is None:
                return tuple(found)
            # A cursor that was seen before would have the guard turn in circles for as long as the server likes.
            if not isinstance(cursor, str) or len(cursor) > LONGEST_CURSOR or cursor in seen:
                raise ListingRefused(f"{method} returns an invalid or repeated cursor for the next page")
            seen.add(cursor)
            params = {"cursor": cursor}
        raise ListingRefused(f"{method} does not end within {self._bounds.pages} pages")

    async def _page(self, method: str, key: str, params: dict[str, Any]) -> dict[str, Any]:
        try:
            return await self._ask(method, params)
        except ServerError as error:
            if error.error.get("code") == METHOD_NOT_FOUND and not params:
                # Only for the first page: an error in the middle of a list must not pass for its end.
                return {key: []}
            raise

    def _heed(self, ttl: object) -> None:
        if isinstance(ttl, int | float) and not isinstance(ttl, bool):
            said = max(ttl / 1000, 0.0)
            self.ttl = said if self.ttl is None else min(said, self.ttl)

    def _entries(self, method: str, key: str, page: dict[str, Any]) -> list[dict[str, Any]]:
        entries = page.get(key)
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ListingRefused(f"{method} did not return a list of {key}")
        # All lists together: with a limit for each one, four lists could be four times as large.
        self._bytes += len(dumps(entries))
        if self._bytes > self._bounds.bytes:
            raise ListingRefused(f"the server's lists are larger than {self._bounds.bytes} bytes")
        return entries
