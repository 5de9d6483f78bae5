"""The face with everything by its own name and the proxy tool: for clients that use both at one address."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.gateway.faces.direct_with_proxy import DirectFaceWithProxy
from tests.gate import Gate
from tests.gateway.guard_face import calls_to
from tests.gateway.proxy_tool import plainly, proxy, value
from tests.gateway.speaking import (
    HOWS,
    OTHER_TOKEN,
    TOKEN,
    callers,
    guarded,
    nothing_happens,
    refused_once,
    scope,
)
from tests.simulators.client import RawClient
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
FACE = "/mcp/proxy"


@asynccontextmanager
async def agent(
    guard: Gate, how: str = "http modern", token: str | None = None, separator: str | None = None
) -> AsyncIterator[RawClient]:
    transport, era = how.split()
    if transport == "stream":
        async with guard.stream(modern=era == "modern", face="proxy", token=token, separator=separator) as client:
            if era == "legacy":
                await client.initialize()
            yield client
    else:
        path = FACE + (f"?separator={separator}" if separator else "")
        yield guard.client(path, token=token) if era == "modern" else await guard.legacy(path, token=token)


async def names(client: RawClient) -> list[str]:
    return [each["name"] for each in (await client.request("tools/list", {})).result["tools"]]


@pytest.mark.parametrize("how", HOWS)
async def test_one_address_has_the_methods_of_the_protocol_and_the_tool(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, agent(guard, how) as client:
        plain = [each["name"] for each in (await plainly(guard, "tools/list"))["tools"]]
        assert await names(client) == ["proxy", *plain]
        assert [each["name"] for each in value(await proxy(client, "list", "tool"))] == plain
        for kind in ("resources/list", "resources/templates/list", "prompts/list"):
            shown = {k: v for k, v in (await client.request(kind, {})).result.items() if isinstance(v, list)}
            assert shown.items() <= (await plainly(guard, kind)).items()
        added = (await client.call("web::add", {"a": 1, "b": 2})).result
        through = await proxy(client, "call", "tool", "web::add", args={"a": 1, "b": 2})
        assert through["content"][0]["text"] == added["content"][0]["text"]
        read = (await client.request("resources/read", {"uri": "note://first"})).result["contents"]
        assert (await proxy(client, "call", "resource", "note://first"))["content"][0]["resource"] == read[0]
        got = (await client.request("prompts/get", {"name": "web::greet", "arguments": {"name": "Ada"}})).result
        through = value(await proxy(client, "call", "prompt", "web::greet", args={"name": "Ada"}))
        assert through["messages"] == got["messages"]
        entries = guard.entries()
        assert len(entries) == 6
        assert {(each["face"], each["declared"], each["outcome"]) for each in entries} == {
            ("direct", False, "answered")
        }


async def test_names_are_written_in_one_way(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        for how in ("http modern", "stream modern"):
            async with agent(guard, how, separator="__") as client:
                _, *listed = await names(client)
                assert "web__add" in listed
                assert [each["name"] for each in value(await proxy(client, "list", "tool"))] == listed
                assert value(await proxy(client, "info", "tool", "web__add"))["name"] == "web__add"


async def test_it_reaches_no_further_than_the_direct_face(tmp_path: Path) -> None:
    script = Script()
    narrow = callers(**{TOKEN: scope("elsewhere"), OTHER_TOKEN: scope("web", "add")})
    async with guarded(tmp_path, script, callers=narrow) as guard:
        async with agent(guard, token=TOKEN) as client:
            assert await names(client) == ["proxy"]
            with refused_once(guard, "capability:unknown", script):
                assert (await client.call("web::add", {"a": 1, "b": 2})).result["isError"] is True
        async with agent(guard, token=OTHER_TOKEN) as client:
            assert await names(client) == ["proxy", "web::add"]
            for own in ("retrieve_tools", "call_tool_read", "upstream_servers", "read_more"):
                with refused_once(guard, "capability:unknown", script):
                    assert (await client.call(own, {})).result["isError"] is True


async def test_the_direct_face_has_no_such_tool(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        client = guard.client()
        assert "proxy" not in await names(client)
        with refused_once(guard, "capability:unknown", script):
            assert (await client.call("proxy", {"action": "list", "type": "tool"})).result["isError"] is True


async def test_it_is_not_there_where_the_tool_is_switched_off(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, proxy__enabled=False) as guard:
        with nothing_happens(guard, script):
            reply = await guard.http.post(
                guard.where.url + FACE,
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
                headers={"accept": "application/json, text/event-stream"},
            )
        assert (reply.status_code, FACE in reply.text) == (404, False)
        async with await anyio.connect_unix(guard.where.agents) as socket:
            hello = {"mcpguard": 1, "face": "proxy", "only": None, "token": None}
            await socket.send(json.dumps(hello).encode() + b"\n")
            assert "disabled" in json.loads(await socket.receive())["error"]


async def test_its_name_is_the_tools_even_where_a_server_has_that_name(tmp_path: Path) -> None:
    script = Script()
    async with (
        guarded(tmp_path, script, proxy__name="web.add") as guard,
        agent(guard, separator=".") as client,
    ):
        tool = DirectFaceWithProxy(".", "web.add").named_capability(
            guard.now.guard.catalog, CapabilityKind.TOOL, "web.add"
        )
        assert tool == Capability("", CapabilityKind.TOOL, "web.add")
        listed = await names(client)
        assert listed.count("web.add") == 1
        result = (await client.call("web.add", {"action": "list", "type": "prompt"})).result
        assert value(result)[0]["name"] == "web.greet"
        assert calls_to(script) == []
        assert (await client.call("web::add", {"a": 1, "b": 2})).result["content"][0]["text"]
        assert calls_to(script) == ["add"]
