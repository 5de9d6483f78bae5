"""A server that has been connected to and agreed with: what can be asked of it."""

from collections.abc import Mapping
from typing import Any

from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map

from mcpguard.codec import envelope
from mcpguard.domain.counterpart import Counterpart
from mcpguard.domain.launches import Era
from mcpguard.domain.listings import Listing
from mcpguard.upstreams.conversation import Conversation
from mcpguard.upstreams.listing import ListingBounds, listing
from mcpguard.upstreams.negotiation import Greeting, stamped
from mcpguard.upstreams.switchboard import Switchboard

HeaderMap = dict[tuple[str, ...], str]


class Connection:
    """One upstream, connected. Every request goes out in the revision that was agreed on."""

    def __init__(
        self, conversation: Conversation, switchboard: Switchboard, greeting: Greeting, us: Mapping[str, Any]
    ) -> None:
        self.greeting = greeting
        self._conversation = conversation
        self._switchboard = switchboard
        self._us = us
        self._modern = greeting.era is Era.MODERN
        self._mirrored: dict[str, HeaderMap] = {}

    async def call(self, method: str, params: Mapping[str, Any], counterpart: Counterpart) -> dict[str, Any]:
        """Ask on somebody's behalf. `params` carry nothing of their own leg; nor does what is returned."""
        call = self._switchboard.begin(counterpart)
        said = {envelope.PROGRESS: call.token} if counterpart.wants_progress else {}
        try:
            if not self._modern:
                return await self._conversation.request(method, envelope.with_meta(params, said), call)
            if counterpart.log_level is not None:
                said[envelope.LOG_LEVEL] = counterpart.log_level
            us = {**self._us, "name": f"{counterpart.name}-through-proxy"} if counterpart.name else self._us
            dressed = stamped(params, self.greeting.version, us, **said)
            return envelope.bare_result(
                await self._conversation.request(method, dressed, call, self._headers(method, params))
            )
        finally:
            self._switchboard.end(call)

    async def listed(self, bounds: ListingBounds) -> Listing:
        """Everything the server offers now."""
        found = await listing(self._ask, self.greeting, bounds)
        if self._modern:
            self._mirrored = {
                tool["name"]: headers for tool in found.tools if (headers := _header_map(tool)) and "name" in tool
            }
        return found

    async def is_there(self) -> None:
        """Returns when the server has shown that it lives. Raises what asking raises."""
        await self._ask("server/discover" if self._modern else "ping", {})

    async def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if self._modern:
            params = stamped(params, self.greeting.version, self._us)
        return await self._conversation.request(method, dict(params) or None)

    def _headers(self, method: str, params: Mapping[str, Any]) -> dict[str, str] | None:
        mirrored = self._mirrored.get(params.get("name", "")) if method == "tools/call" else None
        arguments = params.get("arguments")
        return mcp_param_headers(mirrored, arguments) if mirrored and isinstance(arguments, dict) else None


def _header_map(tool: Mapping[str, Any]) -> HeaderMap:
    schema = tool.get("inputSchema")
    return {} if find_invalid_x_mcp_header(schema) is not None else x_mcp_header_map(schema)
