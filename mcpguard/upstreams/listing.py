"""Asking a server for everything that it offers.

Rules kept here:
1. A listing is whole or it is none: where a list cannot be read to its end within the bounds, nothing of it counts.
2. A server is asked only for what it says it has. One that says it has resources and knows no templates has none.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcpguard.domain.errors import GuardError
from mcpguard.domain.listings import Definition, Listing
from mcpguard.upstreams.conversation import METHOD_NOT_FOUND, ServerError
from mcpguard.upstreams.negotiation import Greeting

Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


class ListingRefused(GuardError):
    """A list goes beyond what is taken, or is none."""


@dataclass(frozen=True, slots=True)
class ListingBounds:
    """How much of one list is taken."""

    pages: int = 100
    entries: int = 5000


async def listing(ask: Ask, greeting: Greeting, bounds: ListingBounds) -> Listing:
    """Everything the server offers. Raises ListingRefused, ServerError, or TransportEnded."""
    has = greeting.capabilities
    return Listing(
        tools=await _drained(ask, "tools/list", "tools", bounds) if "tools" in has else (),
        resources=await _drained(ask, "resources/list", "resources", bounds) if "resources" in has else (),
        templates=await _templates(ask, bounds) if "resources" in has else (),
        prompts=await _drained(ask, "prompts/list", "prompts", bounds) if "prompts" in has else (),
        capabilities=has,
        server=greeting.server,
        instructions=greeting.instructions,
    )


async def _templates(ask: Ask, bounds: ListingBounds) -> tuple[Definition, ...]:
    try:
        return await _drained(ask, "resources/templates/list", "resourceTemplates", bounds)
    except ServerError as error:
        if error.error.get("code") == METHOD_NOT_FOUND:
            return ()
        raise


async def _drained(ask: Ask, method: str, key: str, bounds: ListingBounds) -> tuple[Definition, ...]:
    found: list[Definition] = []
    params: dict[str, Any] = {}
    seen: set[str] = set()
    for _ in range(bounds.pages):
        page = await ask(method, params)
        entries = page.get(key)
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ListingRefused(f"the answer to {method} is no list of {key}")
        found += entries
        if len(found) > bounds.entries:
            raise ListingRefused(f"{method} gives more than {bounds.entries} entries")
        cursor = page.get("nextCursor")
        if cursor is None:
            return tuple(found)
        if not isinstance(cursor, str) or cursor in seen:
            raise ListingRefused(f"{method} goes in circles")
        seen.add(cursor)
        params = {"cursor": cursor}
    raise ListingRefused(f"{method} does not end within {bounds.pages} pages")
