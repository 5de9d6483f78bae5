"""Detects whether a server has a proxy tool."""

from typing import Final, Protocol

from mcp_types import ListToolsResult

from mcpguard.proxy.definition import NAME

MOST_PAGES: Final = 1000


class ClientLists(Protocol):
    """A client of the SDK, as far as it lists tools."""

    async def list_tools(self, *, cursor: str | None = None) -> ListToolsResult: ...


async def has_proxy(client: ClientLists, name: str = NAME) -> bool:
    """Tell whether there is a tool of this name that takes `action` and `type` and declares itself a proxy."""
    cursor = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            if tool.name == name:
                takes = tool.input_schema.get("properties", {})
                return {"action", "type"} <= set(takes) and "proxy" in (tool.description or "").lower()
        cursor = page.next_cursor
        if cursor is None:
            break
    return False
