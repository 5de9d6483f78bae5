"""The tool on servers of the SDK: over what they offer, in both eras, with their own middleware before and behind."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from mcpguard.client import ProxyClient, ProxyError, ProxyResponseInfo, add_proxy_tool, has_proxy
from mcpguard.proxy.annotations import META
from tests.client.notes import MODES, high

pytestmark = pytest.mark.anyio


def low(name: str = "proxy") -> Server[Any]:
    """Lists its tools in two pages, and has nothing else."""
    pages = {None: ("one", "2"), "2": ("two", None)}

    async def list_tools(_: Any, params: PaginatedRequestParams | None) -> ListToolsResult:  # noqa: ANN401
        tool, after = pages[params.cursor if params else None]
        return ListToolsResult(tools=[Tool(name=tool, input_schema={"type": "object"})], next_cursor=after)

    async def call_tool(_: Any, params: CallToolRequestParams) -> CallToolResult:  # noqa: ANN401
        return CallToolResult(content=[TextContent(text=params.name)], is_error=params.name == "two")

    server: Server[Any] = Server("low", on_list_tools=list_tools, on_call_tool=call_tool)
    add_proxy_tool(server, name)
    return server


@pytest.mark.parametrize("mode", MODES)
async def test_everything_that_a_server_offers_is_had_through_it(mode: str) -> None:
    async with (
        ProxyClient(high(), transparent=True, mode=mode) as through,
        ProxyClient(high(), mode=mode) as plain,
    ):
        assert await plain.has_proxy()
        own = [tool for tool in await plain.list_tools() if tool.name != "proxy"]
        assert await through.list_tools() == own
        assert await through.list_resources() == await plain.list_resources()
        assert await through.list_prompts() == await plain.list_prompts()
        assert (await through.call_tool("add", {"a": 2, "b": 3})).structured_content == {"result": 5}
        for uri in ("note://first", "note://7/text"):
            written, as_it_is = [await client.read_resource(uri) for client in (through, plain)]
            assert [each.uri for each in written] == [each.uri for each in as_it_is]
            assert [each.mime_type for each in written] == [each.mime_type for each in as_it_is]
        assert (await through.get_prompt("greet", {"name": "Ada"})).messages == (
            await plain.get_prompt("greet", {"name": "Ada"})
        ).messages


@pytest.mark.parametrize("mode", MODES)
async def test_a_server_of_the_lower_level_has_it_too(mode: str) -> None:
    async with ProxyClient(low(), transparent=True, mode=mode) as client:
        assert [tool.name for tool in await client.list_tools()] == ["one", "two"]
        assert await client.list_resources() == []
        assert await client.list_prompts() == []
        assert not (await client.call_tool("one")).is_error
        failed = await client.call_tool("two")
        assert failed.is_error
        assert ProxyResponseInfo.from_annotations(failed.content[0]) == ProxyResponseInfo("call", "tool", "two")
        listed = (await client.client.list_tools()).tools
        assert [tool.name for tool in listed] == ["one", "proxy"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_server_that_has_nothing_else_has_this(mode: str) -> None:
    server: Server[Any] = Server("bare")
    add_proxy_tool(server, "mcp:proxy")
    async with Client(server, mode=mode) as client:
        assert client.server_capabilities.tools is not None
        assert await has_proxy(client, "mcp:proxy")
        assert not await has_proxy(client)
    async with ProxyClient(server, transparent=True, proxy_tool_name="mcp:proxy", mode=mode) as proxy:
        assert await proxy.list_tools() == []


@pytest.mark.parametrize("mode", MODES)
async def test_what_goes_wrong_is_an_error_of_the_tool(mode: str) -> None:
    async with ProxyClient(high(), transparent=True, mode=mode) as client:
        with pytest.raises(ProxyError):
            await client.read_resource("note://nothing/at/all")
        with pytest.raises(ProxyError):
            await client.get_prompt("nobody")
        for asked, said in (
            ({"action": "call", "type": "tool", "path": "proxy"}, "does not call itself"),
            ({"action": "info", "type": "tool", "path": "nothing"}, "there is no such tool"),
            (
                {"action": "call", "type": "resource", "path": "note://first", "args": {"a": 1}},
                "a resource takes no arguments",
            ),
            ({"action": "drop", "type": "tool"}, "action: one of"),
        ):
            result = await client.client.call_tool("proxy", asked)
            assert result.is_error
            assert isinstance(result.content[0], TextContent)
            assert said in result.content[0].text


async def test_middleware_behind_it_sees_what_is_really_called() -> None:
    seen: list[tuple[str, Any]] = []

    async def watch(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        seen.append((ctx.method, (ctx.params or {}).get("name")))
        return await call_next(ctx)

    server = high()
    server.middleware.append(watch)
    async with ProxyClient(server, transparent=True) as client:
        await client.call_tool("add", {"a": 1, "b": 1})
    assert ("tools/call", "add") in seen
    assert ("tools/call", "proxy") not in seen


@pytest.mark.parametrize("mode", MODES)
async def test_middleware_that_was_there_before_sees_it_too(mode: str) -> None:
    server: MCPServer = MCPServer("notes")
    called: list[str] = []

    @server.tool()
    def add(a: int) -> int:
        called.append("add")
        return a

    async def deny(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method == "tools/call" and (ctx.params or {}).get("name") == "add":
            raise MCPError(-32001, "not you")
        return await call_next(ctx)

    server.middleware.append(deny)
    add_proxy_tool(server)
    async with ProxyClient(server, transparent=True, mode=mode) as client:
        with pytest.raises(ProxyError, match="not you"):
            await client.call_tool("add", {"a": 1})
    assert called == []


def test_a_server_has_it_once() -> None:
    server = high()
    with pytest.raises(ValueError, match="has a proxy tool already"):
        add_proxy_tool(server, "another")


@pytest.mark.parametrize("mode", MODES)
async def test_a_tool_of_the_same_name_is_out_of_reach(mode: str) -> None:
    server = MCPServer("notes")

    @server.tool(name="proxy")
    def mine() -> str:
        return "mine"

    add_proxy_tool(server)
    async with ProxyClient(server, transparent=True, mode=mode) as client:
        assert [tool.name for tool in (await client.client.list_tools()).tools] == ["proxy"]
        assert await client.list_prompts() == []


def paged(many: int, *, ends: bool = True) -> Server[Any]:
    """One tool on each page; where it does not end, the last page names itself."""

    async def list_tools(_: Any, params: PaginatedRequestParams | None) -> ListToolsResult:  # noqa: ANN401
        page = int(params.cursor) if params and params.cursor else 0
        after = str(page + 1) if page + 1 < many else None if ends else str(page)
        return ListToolsResult(tools=[Tool(name=f"t{page}", input_schema={"type": "object"})], next_cursor=after)

    server: Server[Any] = Server("paged", on_list_tools=list_tools)
    add_proxy_tool(server)
    return server


async def test_a_long_list_is_whole_and_one_without_an_end_is_told() -> None:
    async with ProxyClient(paged(151), transparent=True) as through, ProxyClient(paged(151)) as plain:
        assert len(await through.list_tools()) == 151
        assert len(await plain.list_tools()) == 152, "with the proxy tool"
    for transparent in (True, False):
        async with ProxyClient(paged(3, ends=False), transparent=transparent) as client:
            with pytest.raises(MCPError, match="does not end"):
                await client.list_tools()


@pytest.mark.parametrize("mode", MODES)
async def test_what_has_another_form_is_told_as_such(mode: str) -> None:
    async with ProxyClient(high(), transparent=True, mode=mode) as client:
        asked = {"action": "call", "type": "prompt", "path": "greet", "args": {"name": 7}}
        result = await client.client.call_tool("proxy", asked)
        assert (result.meta or {})[META]["error"]["code"] == -32602


async def test_arguments_that_are_no_object_are_refused() -> None:
    app = high().streamable_http_app(stateless_http=True, json_response=True)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8000") as http,
    ):
        for odd in (["action"], "abc", 7):
            said = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "proxy", "arguments": odd}}
            accept = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
            reply = (await http.post("/mcp", json=said, headers=accept)).json()
            told = reply["error"]["message"] if "error" in reply else reply["result"]["content"][0]["text"]
            assert "Internal" not in told


async def test_over_http_the_annotations_are_on_the_wire() -> None:
    """The SDK's models would drop them, and its client does; who reads the message finds them."""
    app = high().streamable_http_app(stateless_http=True, json_response=True)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8000") as http,
    ):
        call = {"name": "proxy", "arguments": {"action": "call", "type": "resource", "path": "note://first"}}
        said = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        accept = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
        reply = (await http.post("/mcp", json=said, headers=accept)).json()
        (item,) = reply["result"]["content"]
        assert item["annotations"] == {"proxyAction": "call", "proxyType": "resource", "proxyPath": "note://first"}
        assert item["resource"]["contentType"] == item["_meta"][META]["contentType"] == "text/plain"
        assert json.loads(item["resource"]["text"]) == {"a": 1}


@pytest.mark.parametrize("made", [high, low])
async def test_whoever_does_not_use_it_notices_nothing(made: Callable[[], Any]) -> None:
    async with Client(made()) as client:
        listed = await client.list_tools()
        assert len(listed.tools) == 2
        assert listed.tools[-1].name == "proxy"
