"""The guard face: an agent finds tools, says what it means to do, and is judged once, however it came."""

import json
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint
from mcp.client import Client

from mcpguard.codec.messages import dumps
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.gateway.tools.definitions import DEFINITIONS
from tests.attacks.quarantined import pin, until
from tests.gate import gate
from tests.gateway.guard_face import FACE, agent, answer, calls_to, found, refused
from tests.gateway.speaking import HOWS, OTHER_TOKEN, TOKEN, callers, guarded, played, scope, speaking
from tests.patience import PATIENCE
from tests.review import DECISION
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
LARGEST = 9_000
"""Bytes of the whole list of tools: well below 2,500 tokens."""


@pytest.mark.parametrize("how", HOWS)
async def test_an_agent_finds_a_tool_describes_it_and_calls_it(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, agent(guard, how) as client:
        listed = (await client.request("tools/list", {})).result["tools"]
        assert [each["name"] for each in listed] == [*DEFINITIONS, "proxy"]
        said = await found(client, "add two numbers")
        hit = said["tools"][0]
        assert (hit["name"], hit["server"]) == ("web:add", "web")
        assert hit["signature"].startswith("add(a: ")
        assert "inputSchema" not in hit
        assert (said["query"], said["total"]) == ("add two numbers", len(script.tools))
        (described,) = (await answer(client, "describe_tool", names=["web:add"]))["tools"]
        assert (described["answer"], described["call_with"]) == ("ready", hit["call_with"])
        assert described["inputSchema"] == next(tool for tool in script.tools if tool["name"] == "add")["inputSchema"]
        result = (await client.call(hit["call_with"], {"name": "web:add", "arguments": {"a": 2, "b": 3}})).result
        assert result["structuredContent"] == {"sum": 5}
        (entry,) = guard.entries()
        assert result["_meta"]["mcpguard/call"] == entry["entry"]
        assert (entry["face"], entry["verdict"], entry["declared"]) == ("guard", "allow", True)


async def test_what_searching_spares_an_agent_of_reading_is_counted(tmp_path: Path) -> None:
    script, whole, narrow = Script(), scope(), scope("web", "add")
    async with guarded(tmp_path, script, callers=callers(**{TOKEN: whole, OTHER_TOKEN: narrow})) as guard:
        used, reach = guard.now.guard.searching.context_use, sum(len(dumps(tool)) for tool in script.tools)
        async with agent(guard, token=TOKEN) as client:
            said = await found(client, "add two numbers")
            assert used.in_reach == 0
            assert used.tokens_saved == 0, "searching alone saves nothing"
            before = used.shown
            listed = (await client.request("tools/list", {})).result
            assert (used.in_reach, used.shown - before) == (reach, len(dumps({"tools": listed["tools"]})))
            before = used.shown
            said = await answer(client, "retrieve_tools", query="add two numbers")
            assert used.shown - before == len(dumps(said))
        async with agent(guard, token=OTHER_TOKEN) as client:
            await client.request("tools/list", {})
            (only,) = (tool for tool in script.tools if tool["name"] == "add")
            assert used.in_reach == reach + len(dumps(only)), "what a caller cannot see is not saved"
        async with speaking(guard, "http modern", token=TOKEN) as client:
            await client.request("tools/list", {})
        assert used.in_reach == reach + len(dumps(only)), "a list of every tool saves nothing"
        assert used.tokens_saved == 0, "the guard's own tools are more to read than these"


@pytest.mark.parametrize(
    ("tool", "with_it", "reason"),
    [
        ("echo", "call_tool_read", None),
        ("echo", "call_tool_write", None),
        ("echo", "call_tool_destructive", None),
        ("add", "call_tool_read", "intent:understated"),
        ("add", "call_tool_write", "intent:understated"),
        ("add", "call_tool_destructive", None),
    ],
)
async def test_a_variant_reaches_what_does_no_more_than_it_says(
    tool: str, with_it: str, reason: str | None, tmp_path: Path
) -> None:
    script = Script()
    script.tools[:] = [{**each, "annotations": {"readOnlyHint": each["name"] == "echo"}} for each in script.tools]
    async with guarded(tmp_path, script) as guard, agent(guard) as client:
        assert pin(guard, tool).effect is (Effect.READ if tool == "echo" else Effect.DESTRUCTIVE)
        given = {"name": f"web:{tool}", "arguments": {"a": 1, "b": 2}}
        if reason is None:
            assert "isError" not in (await client.call(with_it, given)).result
            assert calls_to(script) == [tool]
        else:
            said = await refused(client, with_it, **given)
            assert said["reason"] == reason
            assert said["detail"] == {"effect": "destructive", "call_with": "call_tool_destructive"}
            assert calls_to(script) == [], "the server saw nothing"
        (entry,) = guard.entries()
        assert entry.get("reason") == reason


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"intent": {"operation_type": "read", "reason": "to see"}}, None),
        ({"intent": {"operation_type": "write"}}, "intent:mismatch"),
        ({"intent": {"operation_type": "everything"}}, "intent:invalid"),
        ({"intent": "read"}, "intent:invalid"),
        ({"intent": {"data_sensitivity": "secret"}}, "intent:invalid"),
        ({"intent_reason": "to see", "intent_data_sensitivity": "private"}, None),
        ({"intent_reason": "x" * 1001}, "intent:invalid"),
        ({"intent": {"reason": "a"}, "intent_reason": "b"}, "intent:invalid"),
    ],
)
async def test_two_keys_say_the_same(said: Json, reason: str | None, tmp_path: Path) -> None:
    script = Script()
    script.tools[:] = [{**each, "annotations": {"readOnlyHint": True}} for each in script.tools]
    async with guarded(tmp_path, script) as guard, agent(guard) as client:
        given = {"name": "web:echo", "arguments": {}, **said}
        result = (await client.call("call_tool_read", given)).result
        assert result.get("isError", False) is (reason is not None)
        (entry,) = guard.entries()
        assert entry.get("reason") == reason
        assert (calls_to(script) == ["echo"]) is (reason is None)
        if reason is None:
            assert entry["intent_reason"] == "to see"


@pytest.mark.parametrize(
    "given",
    [
        {"arguments": {"a": 2, "b": 3}},
        {"args": {"a": 2, "b": 3}},
        {"args_json": '{"a": 2, "b": 3}'},
        {"args_json": {"a": 2, "b": 3}},
        {"arguments": {"a": 2, "b": 3}, "intent": '{"operation_type": "destructive"}'},
    ],
)
async def test_arguments_are_given_in_one_of_three_forms(given: Json, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, agent(guard) as client:
        result = (await client.call("call_tool_destructive", {"name": "web:add", **given})).result
        assert result["structuredContent"] == {"sum": 5}


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("call_tool_read", {"arguments": {}}),
        ("call_tool_read", {"name": "add"}),
        ("call_tool_read", {"name": 5}),
        ("call_tool_read", {"name": "web:add", "arguments": {}, "args": {}}),
        ("call_tool_read", {"name": "web:add", "args_json": "[1]"}),
        ("call_tool_read", {"name": "web:add", "args_json": [1]}),
        ("call_tool_read", {"name": "web:add", "args_json": {}, "args": {}}),
        ("call_tool_read", {"name": "web:add", "args_json": '{"a": 1, "a": 2}'}),
        ("call_tool_read", {"name": "web:add", "argumnets": {}}),
        ("call_tool", {"server": "web"}),
        ("retrieve_tools", {}),
        ("retrieve_tools", {"query": "x" * 2001}),
        ("retrieve_tools", {"query": "x", "limit": 101}),
        ("retrieve_tools", {"query": "x", "limit": True}),
        ("describe_tool", {"names": []}),
        ("describe_tool", {"names": ["web:x"] * 21}),
        ("upstream_servers", {"operation": "everything"}),
    ],
)
async def test_what_has_not_its_form_is_told_where_and_does_nothing(tool: str, given: Json, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, agent(guard) as client:
        said = await refused(client, tool, **given)
        assert (said["reason"], bool(said["expected"])) == ("arguments:invalid", True)
        assert (calls_to(script), guard.entries()) == ([], [])


async def test_the_old_way_to_call_implies_its_intent(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, agent(guard) as client:
        given = {"server": "web", "tool": "add", "arguments": {"a": 1, "b": 1}}
        assert (await client.call("call_tool", given)).result["structuredContent"] == {"sum": 2}
        (entry,) = guard.entries()
        assert entry["declared"] is False


async def test_what_is_beyond_a_scope_and_what_does_not_exist_look_the_same(tmp_path: Path) -> None:
    script = Script()
    known = callers(**{TOKEN: scope("other", "*", Effect.READ)})
    async with guarded(tmp_path, script, callers=known) as guard, agent(guard, token=TOKEN) as client:
        said = await answer(client, "retrieve_tools", query="add two numbers")
        assert (said["tools"], said["total"]) == ([], 0)
        described = (await answer(client, "describe_tool", names=["web:add", "web:nothing"]))["tools"]
        assert {each.pop("name") for each in described} == {"web:add", "web:nothing"}
        assert described[0] == described[1]
        assert described[0]["answer"] == "unknown"
        there, nowhere = [await refused(client, "call_tool_read", name=f"web:{name}") for name in ("add", "nothing")]
        assert there | {"call_id": ""} == nowhere | {"call_id": ""}
        assert (await answer(client, "upstream_servers", operation="list"))["servers"] == []
        config = {"command": "x"}
        there, nowhere = [
            await refused(client, "upstream_servers", operation="request", name=name, config=config)
            for name in ("web", "nothing")
        ]
        assert there == nowhere
        assert calls_to(script) == []


async def test_what_changes_is_not_found_from_that_moment_on_and_never_shown(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, agent(guard) as client:
        await found(client, "echo")
        tool = next(each for each in script.tools if each["name"] == "echo")
        tool["description"] = "Poison that nobody has seen."
        await script.changed_list()
        await until(guard, lambda: pin(guard, "echo").standing is CapabilityStanding.CHANGED)
        said = await answer(client, "retrieve_tools", query="web:echo", detail="full")
        assert "web:echo" not in [each["name"] for each in said["tools"]]
        (described,) = (await answer(client, "describe_tool", names=["web:echo"]))["tools"]
        assert (described["answer"], described["reason"]) == ("blocked", "capability:changed")
        assert "description" not in described
        assert "Poison" not in json.dumps([said, described])


async def test_a_server_that_an_agent_asks_for_waits_in_quarantine_in_its_name(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, agent(guard) as client:
        marker = tmp_path / "it-ran"
        config = {"command": "touch", "args": [str(marker)], "autoApprove": ["*"]}
        said = await answer(client, "upstream_servers", operation="request", name="wanted", config=config)
        assert (said["requested"], said["standing"]) == ("wanted", "quarantined")
        known = guard.now.guard.servers.find("wanted")
        assert known is not None
        assert (known.upstream.origin.value, known.upstream.requester) == ("agent", "anonymous")
        for number in range(2):
            await answer(client, "upstream_servers", operation="request", name=f"more{number}", config=config)
        too_many = await refused(client, "upstream_servers", operation="request", name="more9", config=config)
        assert "are waiting for review already" in too_many["expected"]
        secret = {"command": "x", "env": {"TOKEN": "${env:HOME}"}}
        assert (
            "reference"
            in (await refused(client, "upstream_servers", operation="request", name="other", config=secret))["expected"]
        )
        assert guard.now.guard.servers.find("other") is None
        assert not marker.exists()


async def test_nothing_of_a_server_is_in_the_list_of_tools_which_stays_small(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, agent(guard) as client:
        listed = (await client.request("tools/list", {})).result
        assert len(json.dumps(listed["tools"])) < LARGEST
        assert (await client.request("resources/list", {})).result["resources"] == []
        said = await refused(client, "echo")
        assert said["reason"] == "capability:unknown"


async def test_finding_leaves_a_record_of_what_was_shown(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, agent(guard) as client:
        await found(client, "add two numbers")
        await guard.now.guard.tallies.flush()
        shown = [record for record in guard.said() if record["kind"] == "disclosed"]
        assert {(record["method"], record["face"]) for record in shown} >= {("retrieve_tools", "guard")}


async def test_the_sdks_client_finds_and_calls(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, Client(f"{guard.where.url}{FACE}") as client:
        with anyio.fail_after(PATIENCE):
            while True:
                hits = (await client.call_tool("retrieve_tools", {"query": "add"})).structured_content
                if hits is not None and hits["tools"]:
                    break
        given = {"name": hits["tools"][0]["name"], "arguments": {"a": 20, "b": 22}}
        called = await client.call_tool(hits["tools"][0]["call_with"], given)
        assert called.structured_content == {"sum": 42}


async def test_two_servers_one_index(tmp_path: Path) -> None:
    async with (
        played(tmp_path, Script(), "one") as one,
        played(tmp_path, Script(), "two") as two,
        gate(tmp_path, one, two) as guard,
        agent(guard) as client,
    ):
        with anyio.fail_after(PATIENCE):
            while len((await answer(client, "retrieve_tools", query="add"))["tools"]) < 2:
                await checkpoint()
        only = await answer(client, "retrieve_tools", query="add", servers=["two"])
        assert {each["server"] for each in only["tools"]} == {"two"}
        listed = (await answer(client, "upstream_servers", operation="list"))["servers"]
        assert [(each["name"], each["standing"], each["state"]) for each in listed] == [
            ("one", "approved", "ready"),
            ("two", "approved", "ready"),
        ]
        await guard.now.guard.decisions.block("one", DECISION)
        assert {each["server"] for each in (await answer(client, "retrieve_tools", query="add"))["tools"]} == {"two"}
