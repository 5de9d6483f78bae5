"""Names on the direct face carry their server, and mean one thing or nothing."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from mcpguard.codec.refusals import refusal_facts
from tests.gate import gate
from tests.gateway.speaking import HOWS, guarded, nothing_happens, played, refused_once, speaking
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
SEPARATORS = ("::", "__", ".")
UNKNOWN = [
    "echo",
    "web",
    "web:",
    ":echo",
    "other:echo",
    "web:Echo",
    "web::",
    "::echo",
    "web::Echo",
    "other::echo",
    "web::echo\n",
    "",
]
ODD = ["with space", " padded ", "g\u00fcte/\u4e16\u754c", "a::b", "tab\tnew\nline", "=?base64?eA==?=", "\U0001f600"]


@pytest.mark.parametrize("separator", SEPARATORS)
async def test_one_separator_is_shown_and_all_are_understood(separator: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, separator=separator) as guard:
        client = guard.client()
        assert f"web{separator}echo" in await client.names()
        assert await client.names("prompts/list") == [f"web{separator}greet"]
        for each in (*SEPARATORS, ":"):
            assert (await client.call(f"web{each}echo", {"said": each})).result["structuredContent"] == {"said": each}
            assert "Greet" in str((await client.request("prompts/get", {"name": f"web{each}greet"})).result)
        assert {call["params"]["name"] for call in script.called("tools/call")} == {"echo"}
        assert {call["params"]["name"] for call in script.called("prompts/get")} == {"greet"}


@pytest.mark.parametrize("how", HOWS)
async def test_a_client_may_say_what_its_model_can_take(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, speaking(guard, how) as usual:
        for separator in SEPARATORS:
            async with speaking(guard, how, separator=separator) as client:
                assert f"web{separator}echo" in await client.names()
                assert await client.names("prompts/list") == [f"web{separator}greet"]
                for each in SEPARATORS:
                    said = (await client.call(f"web{each}echo", {"said": each})).result["structuredContent"]
                    assert said == {"said": each}
        assert "web::echo" in await usual.names(), "and nobody else's names are others"


async def test_a_separator_that_there_is_not_is_refused(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        with nothing_happens(guard, script):
            for query in ("separator=", "separator=/", "separator=__&separator=.", "separator=%5f", "separator=%ff"):
                for era in (True, False):
                    client = guard.client(f"/mcp/all?{query}", modern=era)
                    said = await client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
                    assert said.status == 400
                    assert b"separator must be one of :: __ ." in said.body


async def test_a_session_keeps_its_separator(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        client = await guard.legacy("/mcp/all?separator=__")
        assert "web__echo" in await client.names()
        client.url = client.url.replace("__", ".")
        assert (await client.send({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})).status == 404


async def test_a_definition_says_where_it_comes_from(tmp_path: Path) -> None:
    script = Script()
    script.tool("echo", {}, _meta={"own": None, "mcpguard/origin": "forged"}, metadata={"own": 1, "proxy": "forged"})
    async with guarded(tmp_path, script) as guard:
        listed = (await guard.client().request("tools/list")).result["tools"]
        (echo,) = [each for each in listed if each["name"] == "web::echo"]
        assert echo["_meta"] == {"own": None, "mcpguard/origin": {"server": "web", "name": "echo"}}
        assert echo["metadata"] == {"own": 1, "proxy": {"server": "web", "originalName": "echo"}}


async def test_a_name_that_means_nothing_reaches_nothing(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                for name in UNKNOWN:
                    with refused_once(guard, "capability:unknown", script) as entry:
                        said = (await client.call(name)).result["_meta"]["mcpguard/refusal"]
                    assert (said["reason"], said["executed"]) == ("capability:unknown", "no")
                    assert entry["entry"] == said["call_id"]


async def test_a_name_that_means_two_things_reaches_neither(tmp_path: Path) -> None:
    one, other = Script(tools=[]), Script(tools=[])
    one.tool("_b", "of a")
    other.tool("b", "of a_")
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(played(tmp_path, script, name))
            for name, script in {"a": one, "a_": other}.items()
        ]
        guard = await stack.enter_async_context(gate(tmp_path, *servers))
        await guard.ready("a", "a_")
        for how in HOWS:
            async with speaking(guard, how) as client:
                with refused_once(guard, "capability:unknown", one, other) as entry:
                    said = (await client.call("a___b")).result["_meta"]["mcpguard/refusal"]
                assert said["reason"] == "capability:unknown"
                assert "server" not in entry, "it is nobody's"
                assert (await client.call("a::_b")).text == "of a"
                assert (await client.call("a_::b")).text == "of a_"


async def test_a_name_of_any_characters_is_carried(tmp_path: Path) -> None:
    script = Script(tools=[])
    for name in ODD:
        script.tool(name, name)
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                assert await client.names() == [f"web::{name}" for name in ODD]
                for name in ODD:
                    assert (await client.call(f"web::{name}")).text == name


async def test_a_name_longer_than_any_is_refused_before_anything_is_looked_up(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                with nothing_happens(guard, script):
                    assert (await client.call("web::" + "x" * 1020)).error["code"] == -32602
                    assert (await client.request("prompts/get", {"name": "x" * 2000})).error["code"] == -32602
                    ref = {"ref": {"type": "ref/prompt", "name": "x" * 2000}, "argument": {"name": "a", "value": ""}}
                    assert (await client.request("completion/complete", ref)).error["code"] == -32602


async def test_on_the_transparent_face_names_are_the_servers_own(tmp_path: Path) -> None:
    script = Script()
    script.tool("web::echo", "its own")
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how, only="web") as client:
                assert await client.names() == [each["name"] for each in script.tools]
                assert (await client.call("web::echo")).text == "its own"
                assert (await client.call("echo", {"x": 1})).result["structuredContent"] == {"x": 1}
                assert refusal_facts((await client.call("web__echo")).result)["reason"] == "capability:unknown"


@pytest.mark.parametrize("path", ["/mcp/", "/mcp/all/", "/mcp/only/web/"])
async def test_a_slash_behind_the_path_changes_nothing(path: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        assert await guard.client(path).names() == await guard.client(path[:-1]).names()
        with pytest.raises(AssertionError):
            await guard.client(path + "/").names()
