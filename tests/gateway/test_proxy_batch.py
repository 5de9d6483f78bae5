"""A batch through the proxy tool: every item is a call of its own, and nothing is easier than one by one."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.codec.messages import Request
from mcpguard.domain.callers import Caller
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.client_request import Exchange
from mcpguard.gateway.clients import Client
from mcpguard.gateway.faces.direct import DirectFace
from mcpguard.gateway.lists import ShownLists
from mcpguard.gateway.tools.proxy import ClientView, ProxyTool
from mcpguard.guard.calls.request import CallRequest as CallAsked
from mcpguard.guard.calls.request import CallResult
from mcpguard.proxy.annotations import META
from mcpguard.proxy.envelope import LARGEST_LIST
from tests.gate import Gate
from tests.gateway.abandoning import Asking, abandoned, begun, closed
from tests.gateway.asking import answering, behind, nosy
from tests.gateway.guard_face import agent, calls_to
from tests.gateway.holding import HELD, allowed, told_to_come_back
from tests.gateway.proxy_tool import value
from tests.gateway.speaking import (
    EVERYTHING,
    HOWS,
    TOKEN,
    callers,
    changed,
    guarded,
    nothing_happens,
    scope,
    turned_away,
)
from tests.simulators.asked import Asked
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json, text

pytestmark = pytest.mark.anyio
ADD = {"action": "call", "type": "tool", "path": "web::add", "args": {"a": 1, "b": 2}}
ECHO = {"action": "call", "type": "tool", "path": "web::echo", "args": {"text": "hello"}}
NOTHING = {"action": "call", "type": "tool", "path": "web::nothing"}
OTHERS: list[Json] = [
    {"action": "call", "type": "resource", "path": "note://first"},
    {"action": "call", "type": "prompt", "path": "web::greet", "args": {"name": "Ada"}},
    {"action": "info", "type": "tool", "path": "web::add"},
    {"action": "list", "type": "prompt"},
]


def batch(*operations: Json) -> Json:
    return {"action": "batch", "operations": list(operations)}


async def results(client: RawClient, *operations: Json) -> list[Json]:
    """What each of them came to."""
    result = (await client.call("proxy", batch(*operations))).result
    found: list[Json] = value(result)
    assert "isError" not in result
    said = result["_meta"][META]
    assert (said["proxyAction"], said["pythonType"], said["many"]) == ("batch", "CallToolResult", True)
    assert said["total"] == len(operations) == len(found)
    assert said["failed"] == [at for at, each in enumerate(found) if each.get("isError")]
    assert result["_meta"]["mcpguard/speaker"] == "guard"
    return found


def reasons(found: list[Json]) -> list[str | None]:
    return [each.get("structuredContent", {}).get("reason") if each.get("isError") else None for each in found]


def told(guard: Gate) -> list[tuple[str, str, Any]]:
    return [(each["name"], each["outcome"], each.get("reason")) for each in guard.entries()]


def without_entry(result: Json) -> Json:
    return {**result, "_meta": {key: said for key, said in result["_meta"].items() if key != "mcpguard/call"}}


@pytest.mark.parametrize("how", HOWS)
async def test_each_of_a_batch_comes_to_what_it_would_by_itself(how: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, agent(guard, how) as client:
        found = await results(client, ADD, *OTHERS)
        recorded = told(guard)
        assert recorded == [
            ("add", "answered", None),
            ("note://first", "answered", None),
            ("greet", "answered", None),
        ]
        alone = [(await client.call("proxy", each)).result for each in (ADD, *OTHERS)]
        bare = [{key: said for key, said in each.items() if key != "resultType"} for each in alone]
        for each in bare:
            each["_meta"] = {key: said for key, said in each["_meta"].items() if "serverInfo" not in key}
        assert [without_entry(each) for each in found] == [without_entry(each) for each in bare]
        assert told(guard) == recorded * 2
        entries = [each["entry"] for each in guard.entries()]
        assert [each["_meta"]["mcpguard/call"] for each in found[:3]] == entries[:3]


async def test_one_that_is_refused_does_not_stop_the_others(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, agent(guard) as client:
        script.tool("echo", "done", description="Something else.")
        await changed(guard, script)
        own = {"action": "call", "type": "tool", "path": "retrieve_tools"}
        found = await results(client, NOTHING, ECHO, own, ADD)
        assert reasons(found) == ["capability:unknown", "capability:changed", "arguments:invalid", None]
        assert calls_to(script) == ["add"]
        assert told(guard) == [
            ("nothing", "refused", "capability:unknown"),
            ("echo", "refused", "capability:changed"),
            ("add", "answered", None),
        ]
        assert await turned_away(guard) == {("network", "arguments"): 1}


async def test_each_counts_in_the_budget(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, budgets__caller_minute=2) as guard, agent(guard) as client:
        found = await results(client, ADD, ADD, ADD, ECHO)
        assert reasons(found) == [None, None, "budget:calls", "budget:calls"]
        assert calls_to(script) == ["add", "add"]
        assert [each[2] for each in told(guard)] == [None, None, "budget:calls", "budget:calls"]


async def test_who_must_declare_declares_nothing_by_it(tmp_path: Path) -> None:
    script = Script()
    careful = {TOKEN: Caller("careful", "careful", EVERYTHING, must_declare=True)}
    fail = {"action": "call", "type": "tool", "path": "web::fail", "args": {}}
    async with guarded(tmp_path, script, callers=careful) as guard, agent(guard, token=TOKEN) as client:
        assert reasons(await results(client, fail, ADD)) == ["intent:undeclared", None]
        assert calls_to(script) == ["add"]
        declared = {**fail, "intent": {"operation_type": "destructive"}}
        with nothing_happens(guard, script):
            result = (await client.call("proxy", batch(ADD, declared))).result
        assert "operations[1]: there are no arguments but" in result["content"][0]["text"]


async def test_what_is_out_of_reach_is_not_there(tmp_path: Path) -> None:
    script = Script()
    narrow = callers(**{TOKEN: scope("web", "add")})
    async with guarded(tmp_path, script, callers=narrow) as guard, agent(guard, token=TOKEN) as client:
        assert reasons(await results(client, ECHO, NOTHING, ADD, *OTHERS[:2])) == [
            "capability:unknown",
            "capability:unknown",
            None,
            "capability:unknown",
            "capability:unknown",
        ]
        assert calls_to(script) == ["add"]


async def test_a_held_one_waits_and_its_ticket_holds_for_the_call_by_itself(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **HELD) as guard, agent(guard) as client:
        answers: list[list[Json]] = []

        async def ask() -> Any:  # noqa: ANN401 - the reply of the whole batch
            reply = await client.call("proxy", batch(ADD, ECHO, ADD))
            answers.append(value(reply.result))
            return replied(answers[0][1])

        said = await told_to_come_back(guard, ask)
        assert said["reason"] == "hold:waiting"
        assert reasons(answers[0]) == [None, "hold:waiting", None]
        assert calls_to(script) == ["add", "add"]
        assert [each["outcome"] for each in guard.entries()] == ["answered", "held", "answered"]
        await allowed(guard, said["detail"]["ticket"])
        assert reasons(await results(client, ECHO)) == [None]
        assert calls_to(script) == ["add", "add", "echo"]
        third = await told_to_come_back(guard, lambda: client.call("proxy", ECHO))
        assert third["detail"]["ticket"] != said["detail"]["ticket"]


def replied(result: Json) -> Any:  # noqa: ANN401 - as much of a reply as `refusal` reads
    class Reply:
        pass

    reply = Reply()
    reply.result = result  # type: ignore[attr-defined]
    return reply


async def test_one_is_under_way_at_a_time(tmp_path: Path) -> None:
    script, seen = Script(), list[int]()
    working = 0

    async def work(_: Asked) -> Json:
        nonlocal working
        working += 1
        seen.append(working)
        await anyio.lowlevel.checkpoint()
        working -= 1
        return text("done")

    script.answers["tools/call echo"] = work
    async with guarded(tmp_path, script) as guard, agent(guard) as client:
        assert reasons(await results(client, *[ECHO] * 20)) == [None] * 20
        assert seen == [1] * 20


async def test_what_is_taken_back_is_not_gone_on_with(tmp_path: Path) -> None:
    script = Script()

    async def wait(asked: Asked) -> Json:
        await asked.script.hold()
        return text("done")

    script.answers["tools/call echo"] = wait
    async with guarded(tmp_path, script) as guard, agent(guard) as client, anyio.create_task_group() as tasks:
        asking = Asking(client, "tools/call", {"name": "proxy", "arguments": batch(ADD, ECHO, ADD)})
        tasks.start_soon(asking)
        await begun(script, 0)
        asking.given_up.cancel()
        await abandoned(script, 1)
        await closed(guard, 2)
        assert calls_to(script) == ["add", "echo"]
        assert [each["outcome"] for each in guard.entries()] == ["answered", "cancelled"]


@pytest.mark.parametrize("how", HOWS)
async def test_what_servers_ask_is_answered_to_each(how: str, tmp_path: Path) -> None:
    async with behind(tmp_path, {"hm": nosy()}) as guard, agent(guard, how) as client:
        asked = answering(client)
        inquire = {"action": "call", "type": "tool", "path": "hm:inquire", "args": {"kinds": ["elicitation"]}}
        reply = await client.fulfil("tools/call", {"name": "proxy", "arguments": batch(inquire, inquire)})
        found = value(reply.result)
        assert reasons(found) == [None, None]
        assert all("Ada" in each["content"][0]["text"] for each in found)
        assert len(asked) == 2
        assert [each["outcome"] for each in guard.entries()] == ["answered", "answered"]


async def test_it_brings_no_answers_along(tmp_path: Path) -> None:
    """A server could ask by the name of a question that another one was to be answered."""
    script = nosy()
    async with behind(tmp_path, {"hm": script}) as guard, agent(guard) as client:
        answering(client)
        inquire = {"action": "call", "type": "tool", "path": "hm:inquire", "args": {"kinds": ["elicitation"]}}
        brought = {"elicitation": {"action": "accept", "content": {"name": "Ada"}}}
        with nothing_happens(guard, script):
            params = {"name": "proxy", "arguments": batch(inquire), "inputResponses": brought}
            result = (await client.request("tools/call", params)).result
        assert result["isError"] is True
        assert "not allowed in a batch" in result["content"][0]["text"]


async def test_what_goes_wrong_inside_costs_the_others_nothing(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        calls: list[str] = []

        async def make(_: Exchange, asked: CallAsked) -> CallResult:
            calls.append(asked.capability.name)
            raise RuntimeError("planted")

        async def settled(_: Client) -> None:
            return

        within = guard.now.guard
        tool = ProxyTool(within, make, ClientView(lambda _: within.catalog, settled, ShownLists(100)), ())
        client = Client("network", Caller("caller-1", "one", EVERYTHING), DirectFace("::"), Era.MODERN)
        exchange = Exchange(client, Request(1, "tools/call", {}), lambda _: None)
        answer = await tool.answer(exchange, {}, batch(ADD, OTHERS[2], ECHO))
        assert [each.get("isError", False) for each in value(answer)] == [True, False, True]
        assert "planted" not in json.dumps(answer)
        assert calls == ["add", "echo"]


@pytest.mark.parametrize("how", ["http legacy", "stream modern"])
async def test_progress_grows_from_one_to_the_next(how: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, agent(guard, how) as client:
        steps = {"action": "call", "type": "tool", "path": "web::progress", "args": {"steps": 2}}
        said = {"name": "proxy", "arguments": batch(steps, steps), "_meta": {"progressToken": "p"}}
        reply = await client.request("tools/call", said)
        assert [each["params"]["progress"] for each in reply.before] == [1, 2, 3, 4]
        assert all("total" not in each["params"] for each in reply.before)


async def test_what_does_not_fit_is_not_begun(tmp_path: Path) -> None:
    script = Script()
    script.answers["tools/call echo"] = text("x" * (LARGEST_LIST + 1))
    async with guarded(tmp_path, script) as guard, agent(guard) as client:
        found = await results(client, ADD, ECHO, ADD, ECHO)
        assert reasons(found) == [None, None, "arguments:invalid", "arguments:invalid"]
        assert "ask for the rest again" in found[2]["content"][0]["text"]
        assert calls_to(script) == ["add", "echo"]
        assert len(guard.entries()) == 2
