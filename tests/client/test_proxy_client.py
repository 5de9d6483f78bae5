"""The client library in front of a real guard: what a program gets does not depend on the way it takes."""

import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.lowlevel
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    TextResourceContents,
)

from mcpguard.client import (
    InvalidOperation,
    ProxyClient,
    ProxyError,
    ProxyResponseInfo,
    get_proxy_query_result,
    has_proxy,
)
from mcpguard.codec.envelope import BY_SERVER
from mcpguard.proxy.annotations import META
from tests.gate import DIRECT, Gate
from tests.gateway.guard_face import FACE
from tests.gateway.speaking import TOKEN, callers, guarded, nothing_happens, scope
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.simulators.words import Json, RpcError

pytestmark = pytest.mark.anyio
MODES = ("legacy", "auto", "2026-07-28")


@asynccontextmanager
async def both(guard: Gate, mode: str) -> AsyncIterator[tuple[ProxyClient, ProxyClient]]:
    """One that goes through the tool, and one that speaks plain MCP to the direct face."""
    async with (
        ProxyClient(guard.where.url + FACE, transparent=True, mode=mode) as through,
        ProxyClient(guard.where.url + DIRECT, mode=mode) as plain,
    ):
        yield through, plain


@pytest.mark.parametrize("mode", MODES)
async def test_either_way_gives_the_same(mode: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, limits__page=2) as guard, both(guard, mode) as (through, plain):
        assert await through.list_tools() == await plain.list_tools()
        assert await through.list_resources() == await plain.list_resources()
        assert await through.list_prompts() == await plain.list_prompts()
        uri = next(each.uri for each in await through.list_resources() if hasattr(each, "uri"))
        for one in (uri, "note://7/text"):
            assert [each.model_dump(exclude={"meta"}) for each in await through.read_resource(one)] == [
                each.model_dump(exclude={"meta"}) for each in await plain.read_resource(one)
            ]
        prompts = [await client.get_prompt("web::greet", {"name": "Ada"}) for client in (through, plain)]
        assert prompts[0].messages == prompts[1].messages
        results = [await client.call_tool("web::add", {"a": 2, "b": 3}) for client in (through, plain)]
        assert results[0].structured_content == results[1].structured_content == {"sum": 5}
        failed = [await client.call_tool("web::fail", {"message": "no"}) for client in (through, plain)]
        assert all(each.is_error for each in failed)


@pytest.mark.parametrize("mode", MODES)
async def test_errors_are_the_same_either_way(mode: str, tmp_path: Path) -> None:
    script = Script()

    async def refuse(_: Asked) -> Json:
        raise RpcError(-32002, "no such note", {"why": "closed"})

    for asked in ("resources/read note://first", "prompts/get greet", "tools/call echo"):
        script.answers[asked] = refuse
    async with guarded(tmp_path, script) as guard, both(guard, mode) as (through, plain):
        for client in (through, plain):
            with pytest.raises(MCPError) as failed:
                await client.read_resource("note://first")
            said = failed.value.error
            assert (said.code, said.message) == (-32002, "no such note")
            assert said.data == {"why": "closed", "_meta": BY_SERVER}
            with pytest.raises(MCPError) as failed:
                await client.get_prompt("web::greet")
            assert failed.value.error.code == -32002
            with pytest.raises(MCPError) as failed:
                await client.call_tool("web::echo")
            assert failed.value.error.code == -32002
            with pytest.raises(MCPError) as refused:
                await client.read_resource("note://nothing")
            assert refused.value.error.code == (-32002 if mode == "legacy" and client is plain else -32602)
            assert refused.value.error.data["reason"] == "capability:unknown"


async def test_raw_answers_are_given_as_they_are(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, ProxyClient(guard.where.url + FACE) as client:
        assert await client.has_proxy()
        result = await client.proxy("tool", "list", limit=3, offset=1)
        assert [tool.name for tool in get_proxy_query_result(result)] == ["web::add", "web::slow", "web::fail"]
        assert ProxyResponseInfo.from_annotations(result) == ProxyResponseInfo("list", "tool", None, "Tool", many=True)
        described = get_proxy_query_result(await client.proxy("resource", "info", "note://7/text"))
        assert described.uri_template == "proxy://template/web/note://{number}/text"
        called = await client.proxy("tool", "call", "web::fail", {"message": "no"})
        assert called.is_error
        assert isinstance(called.content[0], TextContent)
        info = ProxyResponseInfo.from_annotations(called.content[0])
        assert info == ProxyResponseInfo("call", "tool", "web::fail")


async def test_what_is_no_operation_is_not_sent(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, ProxyClient(guard.where.url + FACE) as client:
        with nothing_happens(guard, script):
            for wrong in (("tool", "call"), ("tool", "list", "x"), ("tools", "list"), ("tool", "info", "x", {"a": 1})):
                with pytest.raises(InvalidOperation):
                    await client.proxy(*wrong)
        with pytest.raises(ValueError, match="limit: a whole number"):
            await client.proxy("tool", "list", limit=0)


async def test_progress_and_patience_are_the_callers(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, ProxyClient(guard.where.url + FACE, transparent=True) as client:
        steps: list[float] = []

        async def heard(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
            steps.append(progress)

        await client.call_tool("web::progress", {"steps": 2}, progress_handler=heard)
        while len(steps) < 2:  # the SDK hands them over in tasks of their own
            await anyio.lowlevel.checkpoint()
        with pytest.raises(MCPError):
            await client.call_tool("web::slow", timeout=0.05)


async def test_a_tool_of_another_name(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), proxy__name="everything") as guard:
        url = guard.where.url + FACE
        async with ProxyClient(url, transparent=True, proxy_tool_name="everything") as client:
            assert "web::add" in [tool.name for tool in await client.list_tools()]
        async with ProxyClient(url, transparent=True) as client:
            assert not await client.has_proxy()
            with pytest.raises(ProxyError):
                await client.list_tools()


async def test_whoever_has_a_token_shows_it(tmp_path: Path) -> None:
    narrow = callers(**{TOKEN: scope("web", "add")})
    async with (
        guarded(tmp_path, Script(), callers=narrow) as guard,
        httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}, trust_env=False) as http,
    ):
        transport = streamable_http_client(guard.where.url + FACE, http_client=http)
        async with ProxyClient(transport, transparent=True) as client:
            assert [tool.name for tool in await client.list_tools()] == ["web::add"]


@pytest.mark.parametrize("mode", MODES)
async def test_whether_there_is_a_proxy_is_seen_from_its_definition(mode: str, tmp_path: Path) -> None:
    script = Script()
    script.tool("proxy", "mine", description="A proxy, says this server.")
    async with guarded(tmp_path, script) as guard:
        async with Client(guard.where.url + FACE, mode=mode) as client:
            assert await has_proxy(client)
            assert not await has_proxy(client, "retrieve_tools")
        async with Client(guard.where.url + "/mcp/only/web", mode=mode) as client:
            assert not await has_proxy(client), "its schema has neither action nor type"


async def test_what_a_resource_was_is_what_a_program_gets(tmp_path: Path) -> None:
    script = Script()
    script.answers["resources/read note://first"] = {
        "contents": [{"uri": "note://first", "mimeType": "text/x-config", "text": '{ "a": 1 }'}]
    }
    async with guarded(tmp_path, script) as guard, both(guard, "auto") as (through, plain):
        (written,) = await through.read_resource("note://first")
        (as_it_was,) = await plain.read_resource("note://first")
        assert isinstance(written, TextResourceContents)
        assert isinstance(as_it_was, TextResourceContents)
        assert written.mime_type == as_it_was.mime_type == "text/x-config"
        assert (written.text, as_it_was.text) == ('{"a":1}', '{ "a": 1 }')


@pytest.mark.parametrize(
    "meta",
    [
        {META: "odd"},
        {META: {"error": "odd", "nextOffset": "x"}},
        {META: {"error": {"code": "x", "message": 5, "data": [1]}, "nextOffset": True}},
        {},
    ],
)
def test_an_odd_answer_is_an_error_that_can_be_kept(meta: Json) -> None:
    result = CallToolResult.model_validate(
        {"content": [{"type": "text", "text": "no"}], "isError": True, "_meta": meta}
    )
    error = ProxyError(result)
    assert (error.error.code, error.error.message) == (-32603, "no")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (again.result, again.error) == (error.result, error.error)


@pytest.mark.parametrize("structured", [{}, {"structuredContent": {"reason": "theirs"}}], ids=["none", "another's"])
@pytest.mark.parametrize(
    ("reason", "status", "code"),
    [
        ("capability:unknown", "refused", -32602),
        ("arguments:invalid", "refused", -31010),
        ("reply:screened", "withheld", -32603),
    ],
)
def test_a_refusal_is_read_where_the_guard_alone_can_write(
    reason: str, status: str, code: int, structured: Json
) -> None:
    said = {"status": status, "executed": "no", "reason": reason}
    answer = {"content": [{"type": "text", "text": "no"}], "isError": True, "_meta": {"mcpguard/refusal": said}}
    error = ProxyError(CallToolResult.model_validate(answer | structured))
    assert (error.error.code, error.error.message, error.error.data) == (code, "no", said)


async def test_a_server_that_says_odd_things_of_a_list_ends_it() -> None:
    listed = {"content": [], "_meta": {META: "odd"}}

    async def call_tool(_: object, params: CallToolRequestParams) -> CallToolResult:  # noqa: ARG001
        return CallToolResult.model_validate(listed)

    async def list_tools(_: object, params: PaginatedRequestParams | None) -> ListToolsResult:  # noqa: ARG001
        return ListToolsResult(tools=[])

    server = Server[Any]("odd", on_list_tools=list_tools, on_call_tool=call_tool)
    async with ProxyClient(server, transparent=True) as client:
        with pytest.raises(ValueError, match="not one embedded resource"):
            await client.list_tools()
