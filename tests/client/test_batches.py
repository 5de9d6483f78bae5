"""A batch through the tool on servers of the SDK: in order, each as by itself, and nothing done twice."""

from typing import Any

import pytest
from mcp.server import Server
from mcp_types import CallToolRequestParams, CallToolResult, InputRequiredResult, TextContent

from mcpguard.client import InvalidOperation, ProxyClient, ProxyError, add_proxy_tool, get_proxy_query_result
from mcpguard.proxy.envelope import LARGEST_LIST
from tests.client.notes import MODES, high

pytestmark = pytest.mark.anyio
ADD = {"action": "call", "type": "tool", "path": "add", "args": {"a": 2, "b": 3}}


def server(done: list[str]) -> Server[Any]:
    """One of the lower level, whose tools are called whatever they are called."""

    async def call_tool(_: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:  # noqa: ANN401
        done.append(params.name)
        if params.name == "asks":
            return InputRequiredResult(request_state="later")
        return CallToolResult(content=[TextContent(text="x" * LARGEST_LIST if params.name == "large" else "done")])

    found: Server[Any] = Server("low", on_call_tool=call_tool)
    add_proxy_tool(found)
    return found


def calls(*names: str) -> list[dict[str, Any]]:
    return [{"action": "call", "type": "tool", "path": name} for name in names]


@pytest.mark.parametrize("mode", MODES)
async def test_several_things_are_done(mode: str) -> None:
    async with ProxyClient(high(), mode=mode) as client:
        nothing = {"action": "info", "type": "tool", "path": "nothing"}
        listing = {"action": "list", "type": "tool", "filter": {"prefix": "add"}}
        added, unknown, listed = await client.batch([ADD, nothing, listing])
        assert added.structured_content == {"result": 5}
        assert unknown.is_error
        assert [tool.name for tool in get_proxy_query_result(listed)] == ["add"]


async def test_what_is_no_batch_is_not_done() -> None:
    done: list[str] = []
    async with ProxyClient(server(done), mode="auto") as client:
        with pytest.raises(InvalidOperation):
            await client.batch([*calls("one"), {"action": "call"}])
        with pytest.raises(ProxyError, match="does not call itself"):
            await client.batch(calls("one", "proxy"))
        assert done == []


async def test_what_does_not_fit_is_not_begun() -> None:
    done: list[str] = []
    async with ProxyClient(server(done), mode="auto") as client:
        assert [each.is_error for each in await client.batch(calls("one", "large", "two"))] == [False, False, True]
        assert done == ["one", "large"]


async def test_what_asks_for_input_is_no_part_of_a_batch() -> None:
    """It would be done again from the beginning, with all that was done before it."""
    done: list[str] = []
    async with ProxyClient(server(done), mode="2026-07-28") as client:
        assert [each.is_error for each in await client.batch(calls("one", "asks", "two"))] == [False, True, False]
        assert done == ["one", "asks", "two"]
        given = {"action": "batch", "operations": calls("one", "two")}
        refused = await client.client.call_tool("proxy", given, request_state="later")
        assert refused.is_error
        assert done == ["one", "asks", "two"]
