"""What a person allows is all that is sent: nothing goes along with a call that nobody saw, judged or recorded."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcpguard.codec.uris import wrap_uri
from tests.gateway.asking import QUESTIONS, UPSTREAMS, answering, behind, nosy, rounds
from tests.gateway.guard_face import agent
from tests.gateway.holding import HELD, allowed, calls, refusal
from tests.gateway.speaking import HOWS, guarded, nothing_happens, refused_once, speaking, turned_away
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
AT_ONCE: dict[str, Any] = {"holds__wait_seconds": 0, **HELD}
FIRST = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECOND = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203332-01"
BESIDE: list[Json] = [
    {"task": {"ttl": 60_000}},
    {"task": None},
    {"mode": "DELETE-ALL"},
    {"Arguments": {"text": "other"}},
    {"argument\u0073 ": {"text": "other"}},
    {"arguments\u200b": {"text": "other"}},
    {"": 1},
    {"cursor": "x"},
    {"meta": {"x": 1}},
    {"uri": "note://first"},
    {"_META": {"mode": "DELETE-ALL"}},
    {"Name": "web::other"},
]
MORE: Json = {
    "action": "accept",
    "content": {},
    "_meta": {"own": 1, "progressToken": 5, "io.modelcontextprotocol/related-task": {"taskId": "t"}},
    "mode": "DELETE-ALL",
    "requestState": "mine",
}
METHODS: list[tuple[str, Json]] = [
    ("tools/call", {"name": "web::echo", "arguments": {"text": "a"}}),
    ("prompts/get", {"name": "web::greet"}),
    ("resources/read", {"uri": wrap_uri("web", "note://first")}),
]
OPENED: dict[str, tuple[str, Json]] = {
    "legacy": ("resources/subscribe", {"uri": wrap_uri("web", "note://first")}),
    "modern": ("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
}
"""How a client of each era asks to be told."""
COMPLETION: Json = {"ref": {"type": "ref/prompt", "name": "web::greet"}, "argument": {"name": "who", "value": "a"}}


@pytest.mark.parametrize("how", HOWS)
async def test_a_parameter_that_its_method_does_not_have_is_refused_by_name(how: str, tmp_path: Path) -> None:
    script, tried = Script(), 0
    async with guarded(tmp_path, script) as guard, speaking(guard, how) as client:
        for method, params in [*METHODS, OPENED[how.split()[1]], ("completion/complete", COMPLETION)]:
            for beside in BESIDE:
                if beside.keys() & params.keys():
                    continue
                tried += 1
                with nothing_happens(guard, script):
                    reply = await client.request(method, params | beside)
                assert reply.error["code"] == -32602
                (name,) = beside
                assert (name.strip("\u200b") or "parameter") in reply.error["message"]
        for beside in ({"ref": COMPLETION["ref"] | {"mode": 1}}, {"argument": COMPLETION["argument"] | {"mode": 1}}):
            tried += 1
            with nothing_happens(guard, script):
                reply = await client.request("completion/complete", COMPLETION | beside)
            assert "mode" in reply.error["message"]
        assert sum((await turned_away(guard)).values()) == tried


@pytest.mark.parametrize("how", [how for how in HOWS if how.endswith("legacy")])
@pytest.mark.parametrize("name", ["inputResponses", "requestState"])
async def test_what_only_a_later_revision_has_is_refused_in_the_others(how: str, name: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, speaking(guard, how) as client:
        for method, params in METHODS:
            with nothing_happens(guard, script):
                reply = await client.request(method, params | {name: {"x": {"action": "accept"}}})
            assert (reply.error["code"], name in reply.error["message"]) == (-32602, True)
        assert sum((await turned_away(guard)).values()) == len(METHODS)


async def test_answers_to_what_nobody_asked_go_nowhere(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **AT_ONCE) as guard, speaking(guard, "http modern") as client:
        unasked = {"inputResponses": {"x": {"action": "accept", "content": {"mode": "DELETE-ALL"}}}}
        said = {"name": "web::echo", "arguments": {"a": "harmless"}} | unasked
        await allowed(guard, refusal(await client.request("tools/call", said))["detail"]["ticket"])
        assert (await client.request("tools/call", said)).result.get("isError") is not True
        (sent,) = script.called("tools/call")
        assert sent["params"].keys() <= {"name", "arguments", "_meta"}
        assert "DELETE-ALL" not in json.dumps(sent)


@pytest.mark.parametrize("how", [how for how in HOWS if how.endswith("legacy")])
@pytest.mark.parametrize("meta", [[], "x", 1, [{"mode": "DELETE-ALL"}]])
async def test_a_meta_that_is_none_goes_nowhere(how: str, meta: object, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, speaking(guard, how) as client:
        for method, params in METHODS:
            with nothing_happens(guard, script):
                assert (await client.request(method, params | {"_meta": meta})).error


async def test_none_goes_through_the_guard_s_own_tools(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, agent(guard) as client:
        own: list[tuple[str, Json]] = [
            ("call_tool", {"server": "web", "tool": "echo", "arguments": {}}),
            ("proxy", {"action": "call", "type": "tool", "path": "web::echo"}),
            ("retrieve_tools", {"query": "echo"}),
        ]
        for name, arguments in own:
            with nothing_happens(guard, script):
                said = {"name": name, "arguments": arguments, "task": {"ttl": 1}}
                assert "task" in (await client.request("tools/call", said)).error["message"]


@pytest.mark.parametrize("how", HOWS)
async def test_what_is_allowed_is_shown_whole_and_another_meta_is_another_call(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **AT_ONCE) as guard, speaking(guard, how) as client:

        async def call(**meta: object) -> Any:  # noqa: ANN401 - a reply
            return await client.request(
                "tools/call", {"name": "web::echo", "arguments": {"a": "harmless"}, "_meta": meta}
            )

        ticket = refusal(await call(mode="nothing", traceparent=FIRST, progressToken=1))["detail"]["ticket"]
        (shown,) = await guard.now.guard.held.every()
        assert shown["arguments"] == {"a": "harmless"}
        assert shown["meta"] == {"mode": "nothing", "traceparent": FIRST}
        await allowed(guard, ticket)
        for other in (
            {"mode": "DELETE-ALL"},
            {},
            {"mode": "nothing", "traceparent": "not a trace"},
            {"mode": "nothing", "traceparent": "00-DELETE-ALL"},
            {"mode": "nothing", "traceparent": f"01{FIRST[2:]}-DELETE-ALL"},
            {"Mode": "nothing"},
        ):
            said = refusal(await call(**other))
            assert said["reason"] == "hold:waiting"
            assert said["detail"]["ticket"] != ticket
        assert calls(script) == 0
        assert (await call(progressToken=2, traceparent=SECOND, mode="nothing")).result.get("isError") is not True
        (sent,) = script.called("tools/call")
        ours = {key for key in sent["params"]["_meta"] if key.startswith("io.modelcontextprotocol/")} | {
            "progressToken"
        }
        rest = {key: value for key, value in sent["params"]["_meta"].items() if key not in ours}
        assert rest == {"mode": "nothing", "traceparent": SECOND}


async def test_a_secret_and_a_flood_in_meta_are_refused_as_in_the_arguments(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, speaking(guard, "http modern") as client:
        key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        for reason, meta in (("arguments:secret", {"x": key}), ("arguments:too_large", {"x": "y" * 3_000_000})):
            with refused_once(guard, reason, script):
                await client.request("tools/call", {"name": "web::echo", "arguments": {}, "_meta": meta})


async def test_an_answer_to_a_server_carries_what_the_protocol_has_and_the_record_says_the_same(tmp_path: Path) -> None:
    scripts = {name: nosy(era) for name, (_, era) in UPSTREAMS.items()}
    async with behind(tmp_path, scripts) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                answering(client, {"elicitation": MORE})
                for server in scripts:
                    params = {"name": f"{server}::inquire", "arguments": {"kinds": ["elicitation"]}}
                    said = json.loads((await client.fulfil("tools/call", params)).text)["elicitation"]
                    assert said == {"action": "accept", "content": {}, "_meta": {"own": 1}}, (how, server)
        assert {each["method"] for each in rounds(guard)} == {QUESTIONS["elicitation"]["method"]}
