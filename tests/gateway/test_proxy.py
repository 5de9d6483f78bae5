"""The proxy tool: everything behind the guard through one tool, over every transport and in both eras."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from mcpguard.codec.envelope import BY_SERVER
from mcpguard.gateway.tools.definitions import CODE, DEFINITIONS
from mcpguard.proxy.annotations import META
from mcpguard.settings.call_groups import TAKEN, Proxy
from tests.gate import gate
from tests.gateway.asking import answering, behind, nosy
from tests.gateway.guard_face import FACE, agent
from tests.gateway.proxy_tool import annotations, plainly, proxy, value, wrapped
from tests.gateway.speaking import HOWS, guarded, played
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.simulators.words import Json, RpcError

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("how", HOWS)
async def test_a_list_is_what_the_direct_face_lists(how: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, agent(guard, how) as client:
        tools = await proxy(client, "list", "tool")
        assert value(tools) == (await plainly(guard, "tools/list"))["tools"]
        assert annotations(tools) == {
            "proxyAction": "list",
            "proxyType": "tool",
            "pythonType": "Tool",
            "many": True,
        }
        assert tools["content"][0]["resource"]["uri"] == "proxy:list/tool"
        prompts = await proxy(client, "list", "prompt")
        assert value(prompts) == (await plainly(guard, "prompts/list"))["prompts"]
        assert annotations(prompts)["pythonType"] == "Prompt"
        resources = await proxy(client, "list", "resource")
        plain = (await plainly(guard, "resources/list"))["resources"]
        templates = (await plainly(guard, "resources/templates/list"))["resourceTemplates"]
        assert plain
        assert templates
        assert value(resources) == plain + templates
        assert annotations(resources)["pythonType"] == "mcp.types.Resource | mcp.types.ResourceTemplate"
        assert "proxyPath" not in annotations(resources)


@pytest.mark.parametrize("how", HOWS)
async def test_a_tool_is_called_as_everywhere_else(how: str, tmp_path: Path) -> None:
    script = Script()
    item = {"type": "text", "text": "5", "annotations": {"priority": 1.0, "proxyPath": "forged"}, "_meta": {"k": 1}}
    script.tool("sum", lambda _: {"content": [item], "structuredContent": {"sum": 5}, "_meta": {"theirs": 1}})
    async with guarded(tmp_path, script) as guard, agent(guard, how) as client:
        result = await proxy(client, "call", "tool", "web::sum", args={"a": 2})
        said = {"proxyAction": "call", "proxyType": "tool", "proxyPath": "web::sum"}
        assert result["content"] == [
            {
                "type": "text",
                "text": "5",
                "annotations": {"priority": 1.0, **said},
                "_meta": {"k": 1, META: said},
            }
        ]
        assert result["structuredContent"] == {"sum": 5}
        assert "isError" not in result
        assert result["_meta"]["theirs"] == 1
        assert result["_meta"][META] == said
        (call,) = script.called("tools/call")
        assert (call["params"]["name"], call["params"]["arguments"]) == ("sum", {"a": 2})
        (entry,) = guard.entries()
        assert result["_meta"]["mcpguard/call"] == entry["entry"]
        assert (entry["server"], entry["name"], entry["method"]) == ("web", "sum", "tools/call")
        assert (entry["face"], entry["declared"], entry["outcome"]) == ("guard", False, "answered")
        for path in ("web:sum", "web__sum", "web.sum"):
            assert (await proxy(client, "call", "tool", path, args='{"a": 3}'))["structuredContent"] == {"sum": 5}
        assert len(guard.entries()) == 4
        failed = await proxy(client, "call", "tool", "web:fail", args={"message": "no"})
        assert (failed["isError"], failed["content"][0]["text"]) == (True, "no")
        assert failed["content"][0]["annotations"]["proxyPath"] == "web:fail"


@pytest.mark.parametrize("how", HOWS)
async def test_a_resource_is_read_by_any_of_its_names(how: str, tmp_path: Path) -> None:
    script = Script()
    script.resources[:] = [{"uri": "note://config", "name": "settings", "mimeType": "text/x-config"}]
    text = '{ "b": 1 }'
    script.answers["resources/read note://config"] = {
        "contents": [{"uri": "note://config", "mimeType": "text/x-config", "text": text}]
    }
    async with guarded(tmp_path, script) as guard, agent(guard, how) as client:
        for path in (
            wrapped("web", "note://config"),
            "note://config",
            "web:note://config",
            "settings",
            "web:settings",
        ):
            result = await proxy(client, "call", "resource", path)
            (found,) = result["content"]
            assert found["type"] == "resource"
            assert found["resource"]["text"] == '{"b":1}'
            assert found["resource"]["mimeType"] == "application/json"
            assert found["resource"]["contentType"] == "text/x-config"
            assert found["annotations"] == {"proxyAction": "call", "proxyType": "resource", "proxyPath": path}
            described = await proxy(client, "info", "resource", path)
            assert value(described)["_meta"]["mcpguard/origin"] == {"server": "web", "uri": "note://config"}
            assert annotations(described)["pythonType"] == "Resource"
        assert {each["name"] for each in guard.entries()} == {"note://config"}


@pytest.mark.parametrize("how", HOWS)
async def test_what_a_template_covers_is_read_and_described(how: str, tmp_path: Path) -> None:
    script = Script()
    template = script.templates[0]["uriTemplate"]
    expanded = template.replace("{number}", "7")
    async with guarded(tmp_path, script) as guard, agent(guard, how) as client:
        for path in (expanded, f"proxy://template/web/{expanded}", f"web:{expanded}"):
            (item,) = (await proxy(client, "call", "resource", path))["content"]
            assert (item["resource"]["uri"], item["resource"]["text"]) == (path, "note 7")
        for path in (template, f"proxy://template/web/{template}", f"web:{template}", expanded):
            described = await proxy(client, "info", "resource", path)
            assert value(described)["uriTemplate"] == f"proxy://template/web/{template}"
            assert annotations(described)["pythonType"] == "ResourceTemplate"
            assert annotations(described)["many"] is False
        assert {each["name"] for each in guard.entries()} == {expanded}


@pytest.mark.parametrize("how", HOWS)
async def test_a_prompt_is_one_embedded_resource(how: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, agent(guard, how) as client:
        for path in ("web::greet", "web:greet"):
            result = await proxy(client, "call", "prompt", path, args={"name": "Ada"})
            message = {"role": "user", "content": {"type": "text", "text": "Greet Ada."}}
            assert value(result)["messages"] == [message]
            assert "_meta" not in value(result)
            assert annotations(result)["pythonType"] == "GetPromptResult"
            assert annotations(result)["proxyPath"] == path
            assert value(await proxy(client, "info", "prompt", path))["name"] == "web::greet"
        assert [each["method"] for each in guard.entries()] == ["prompts/get", "prompts/get"]


async def test_info_is_what_the_list_says(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        client = guard.client(FACE)
        for tool in value(await proxy(client, "list", "tool")):
            described = await proxy(client, "info", "tool", tool["name"])
            assert value(described) == tool
            assert described["content"][0]["resource"]["uri"] == f"proxy:info/tool/{tool['name']}"
            assert annotations(described) == {
                "proxyAction": "info",
                "proxyType": "tool",
                "proxyPath": tool["name"],
                "pythonType": "Tool",
                "many": False,
            }


async def test_a_list_is_had_in_parts_and_of_one_server(tmp_path: Path) -> None:
    async with (
        played(tmp_path, Script(), "one") as one,
        played(tmp_path, Script(), "two") as two,
        gate(tmp_path, one, two) as guard,
    ):
        await guard.ready("one", "two")
        client = guard.client(FACE)
        everything = value(await proxy(client, "list", "tool"))
        parts: list[Json] = []
        offset: int | None = 0
        while offset is not None:
            part = await proxy(client, "list", "tool", limit=4, offset=offset)
            parts += value(part)
            assert part["_meta"][META]["total"] == len(everything)
            offset = part["_meta"][META].get("nextOffset")
        assert parts == everything
        of_two = await proxy(client, "list", "tool", filter_server="two")
        assert value(of_two) == [each for each in everything if each["name"].startswith("two::")]
        assert value(await proxy(client, "list", "tool", filter_server="three")) == []
        assert value(await proxy(client, "list", "prompt", offset=1000)) == []


async def test_an_empty_guard_has_empty_lists(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        client = guard.client(FACE)
        for type_ in ("tool", "resource", "prompt"):
            result = await proxy(client, "list", type_)
            assert result["content"][0]["resource"]["text"] == "[]"


async def test_what_a_server_refuses_is_an_error_of_the_tool(tmp_path: Path) -> None:
    script = Script()

    async def refuse(_: Asked) -> Json:
        raise RpcError(-32002, "no such note today", {"why": "closed"})

    for refused in ("resources/read note://first", "prompts/get greet", "tools/call echo"):
        script.answers[refused] = refuse
    async with guarded(tmp_path, script) as guard:
        client = guard.client(FACE)
        uri = script.resources[0]["uri"]
        for type_, path in (("resource", uri), ("prompt", "web::greet"), ("tool", "web::echo")):
            result = await proxy(client, "call", type_, path)
            assert result["isError"] is True
            assert result["content"][0]["text"] == f"The {type_} answered with an error: no such note today"
            error = result["_meta"][META]["error"]
            assert (error["code"], error["message"]) == (-32002, "no such note today")
            assert error["data"] == {"why": "closed", "_meta": BY_SERVER}
            assert result["_meta"]["mcpguard/speaker"] == "server"
        assert [each["outcome"] for each in guard.entries()] == ["failed"] * 3


async def test_progress_comes_through_it(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, agent(guard, "stream modern") as client:
        asked = {"action": "call", "type": "tool", "path": "web::progress", "args": {"steps": 2}}
        said = {"name": "proxy", "arguments": asked, "_meta": {"progressToken": "p"}}
        reply = await client.request("tools/call", said)
        assert [each["params"]["progress"] for each in reply.before] == [1, 2]
        assert reply.result["content"][0]["text"] == "2 steps"


@pytest.mark.parametrize("how", HOWS)
async def test_what_a_server_asks_is_answered_through_it(how: str, tmp_path: Path) -> None:
    script = nosy()
    async with behind(tmp_path, {"hm": script}) as guard, agent(guard, how) as client:
        asked = answering(client)
        params = {"name": "proxy", "arguments": {"action": "call", "type": "tool", "path": "hm:inquire"}}
        reply = await client.fulfil("tools/call", params)
        assert asked
        assert reply.result["content"][0]["annotations"]["proxyPath"] == "hm:inquire"


def test_it_takes_no_name_of_another_tool() -> None:
    assert {*DEFINITIONS, CODE} == TAKEN
    for name in TAKEN:
        with pytest.raises(ValidationError, match="is the name of another tool of mcpguard"):
            Proxy(name=name)


async def test_it_has_another_name_or_is_not_there(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), proxy__name="mcp:proxy") as guard:
        client = guard.client(FACE)
        names = [each["name"] for each in (await client.request("tools/list", {})).result["tools"]]
        assert "mcp:proxy" in names
        assert "proxy" not in names
        result = (await client.call("mcp:proxy", {"action": "list", "type": "prompt"})).result
        assert value(result)[0]["name"] == "web::greet"
        assert (await client.call("proxy", {"action": "list", "type": "tool"})).result["isError"] is True
    (tmp_path / "other").mkdir()
    async with guarded(tmp_path / "other", Script(), proxy__enabled=False) as guard:
        client = guard.client(FACE)
        assert "proxy" not in [each["name"] for each in (await client.request("tools/list", {})).result["tools"]]
        assert (await client.call("proxy", {"action": "list", "type": "tool"})).result["isError"] is True
