"""What servers ask comes to the client whose call it is, in the way of its era, and the answers go back."""

import json
from pathlib import Path

import anyio
import pytest

from mcpguard.codec.uris import wrap_uri
from mcpguard.domain.asks import AskKind
from tests.gateway.asking import ANSWERS, QUESTIONS, UPSTREAMS, answering, behind, nosy, rounds
from tests.gateway.speaking import HOWS, same, speaking
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.simulators.words import LOG_LEVEL, Json

pytestmark = pytest.mark.anyio


def shown(server: str, kind: str, *, one_server: bool = False) -> Json:
    """A question as a client gets it."""
    question = QUESTIONS[kind]
    params = {key: value for key, value in question["params"].items() if key != "includeContext"}
    if kind == "elicitation" and not one_server:
        params["message"] = f"{server}: {params['message']}"
    return {"method": question["method"], "params": params | {"_meta": {"mcpguard/origin": {"server": server}}}}


@pytest.mark.parametrize("kind", QUESTIONS)
async def test_every_kind_of_question_between_every_pair(kind: str, tmp_path: Path) -> None:
    scripts = {name: nosy(era) for name, (_, era) in UPSTREAMS.items()}
    async with behind(tmp_path, scripts) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                asked = answering(client)
                for server in scripts:
                    asked.clear()
                    params = {"name": f"{server}::inquire", "arguments": {"kinds": [kind]}}
                    reply = await client.fulfil("tools/call", params)
                    assert same(json.loads(reply.text), {kind: ANSWERS[kind]}), (how, server)
                    assert same(asked, [shown(server, kind)]), (how, server)
    entries = guard.entries()
    assert len(entries) == len(HOWS) * len(scripts)
    for entry in entries:
        assert (entry["outcome"], entry["executed"]) == ("answered", "yes")
        mine = [record for record in rounds(guard) if record["entry"] == entry["entry"]]
        assert [(each["kind"], each["method"]) for each in mine] == [
            ("asked", QUESTIONS[kind]["method"]),
            ("heard", QUESTIONS[kind]["method"]),
        ]
        assert mine[1].get("action") == ("accept" if kind == "elicitation" else None)


async def test_several_questions_at_once(tmp_path: Path) -> None:
    scripts = {name: nosy(era) for name, (_, era) in UPSTREAMS.items()}
    async with behind(tmp_path, scripts) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                asked = answering(client)
                for server in scripts:
                    asked.clear()
                    reply = await client.fulfil("tools/call", {"name": f"{server}::inquire"})
                    assert same(json.loads(reply.text), ANSWERS), (how, server)
                    assert sorted(each["method"] for each in asked) == sorted(
                        each["method"] for each in QUESTIONS.values()
                    )


async def test_where_there_is_one_server_its_question_is_shown_as_it_is(tmp_path: Path) -> None:
    async with behind(tmp_path, {"hm": nosy("modern")}) as guard:
        for how in HOWS:
            async with speaking(guard, how, only="hm") as client:
                asked = answering(client)
                await client.fulfil("tools/call", {"name": "inquire", "arguments": {"kinds": ["elicitation"]}})
                assert same(asked, [shown("hm", "elicitation", one_server=True)])


@pytest.mark.parametrize("method", ["prompts/get", "resources/read"])
async def test_prompts_and_resources_may_ask_too(method: str, tmp_path: Path) -> None:
    async def ask(asked: Asked) -> Json:
        await asked.need({"roots": QUESTIONS["roots"]}, "once")
        return {"messages": [], "contents": []}

    scripts = {name: nosy(era) for name, (_, era) in UPSTREAMS.items()}
    for script in scripts.values():
        script.answers |= {"prompts/get greet": ask, "resources/read note://first": ask}
    async with behind(tmp_path, scripts) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                asked = answering(client)
                for count, server in enumerate(scripts, 1):
                    said = {"name": f"{server}::greet", "uri": wrap_uri(server, "note://first")}
                    del said["uri" if method == "prompts/get" else "name"]
                    reply = await client.fulfil(method, said)
                    assert reply.result["messages"] == reply.result["contents"] == []
                    assert len(asked) == count


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("server", UPSTREAMS)
async def test_answers_of_many_at_once_do_not_cross(server: str, how: str, tmp_path: Path) -> None:
    script = nosy(UPSTREAMS[server][1])

    async def one(number: int) -> None:
        async with speaking(guard, how) as client:
            answering(client, {"elicitation": {"action": "accept", "content": {"name": f"number {number}"}}})
            params = {"name": f"{server}::inquire", "arguments": {"kinds": ["elicitation"], "n": number}}
            heard = json.loads((await client.fulfil("tools/call", params)).text)
            assert heard["elicitation"]["content"] == {"name": f"number {number}"}

    async with behind(tmp_path, {server: script}) as guard, anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(one, number)


@pytest.mark.parametrize("server", ["sl", "el"])
async def test_a_server_on_a_stream_that_may_ask_works_on_one_call_at_a_time(server: str, tmp_path: Path) -> None:
    script = nosy("legacy")
    async with behind(tmp_path, {server: script}) as guard, anyio.create_task_group() as tasks:
        client = guard.client()
        for _ in range(3):
            tasks.start_soon(client.call, f"{server}::slow")
        for count in (1, 2, 3):
            await script.until(lambda count=count: len(script.called("tools/call")) == count and script.held == 1)  # type: ignore[misc]
            script.go()


async def test_progress_and_messages_come_with_the_round_in_which_they_are_said(tmp_path: Path) -> None:
    async def tell(asked: Asked) -> Json:
        await asked.progress(1)
        heard = await asked.need({"roots": QUESTIONS["roots"]}, "once")
        await asked.progress(2)
        await asked.log("warning", "nearly there")
        return {"content": [], "structuredContent": heard}

    scripts = {name: Script(era) for name, (_, era) in UPSTREAMS.items()}
    for each in scripts.values():
        each.tool("tell", tell)
    async with behind(tmp_path, scripts) as guard:
        for server in scripts:
            client = guard.client()
            params: Json = {"name": f"{server}::tell"}
            first = await client.request("tools/call", params | {"_meta": {"progressToken": "one", LOG_LEVEL: "info"}})
            assert [each["params"] for each in first.notifications] == [{"progressToken": "one", "progress": 1}]
            again = params | {
                "_meta": {"progressToken": "two", LOG_LEVEL: "info"},
                "requestState": first.result["requestState"],
                "inputResponses": dict.fromkeys(first.result["inputRequests"], ANSWERS["roots"]),
            }
            second = await client.request("tools/call", again)
            assert second.result["structuredContent"] == {"roots": ANSWERS["roots"]}
            progressed = [each["params"] for each in second.notifications if "progress" in each["params"]]
            begins_anew = UPSTREAMS[server][1] == "modern"
            assert [each["progress"] for each in progressed] == ([1, 2] if begins_anew else [2])
            assert {each["progressToken"] for each in progressed} == {"two"}
            messages = [each["params"]["data"] for each in second.notifications if "data" in each["params"]]
            assert messages == ["nearly there"], server


async def test_a_server_learns_which_messages_the_client_wants_when_it_comes_back(tmp_path: Path) -> None:
    script = nosy("modern")
    async with behind(tmp_path, {"hm": script}) as guard:
        client = guard.client()
        params: Json = {"name": "hm::inquire", "arguments": {"kinds": ["roots"]}}
        first = await client.request("tools/call", params | {"_meta": {LOG_LEVEL: "info"}})
        again = params | {
            "_meta": {LOG_LEVEL: "error"},
            "requestState": first.result["requestState"],
            "inputResponses": dict.fromkeys(first.result["inputRequests"], ANSWERS["roots"]),
        }
        assert "content" in (await client.request("tools/call", again)).result
        assert [each["params"]["_meta"][LOG_LEVEL] for each in script.called("tools/call")] == ["info", "error"]


@pytest.mark.parametrize("modern", [True, False])
async def test_a_modern_server_learns_no_more_than_what_it_may_ask_for(*, modern: bool, tmp_path: Path) -> None:
    can: Json = {"elicitation": {"url": {}, "secret": {}}, "roots": {}, "experimental": {"x": {}}}
    script = nosy("modern")
    async with (
        behind(tmp_path, {"hm": script}, may_ask={"hm": [AskKind.ELICITATION, AskKind.SAMPLING]}) as guard,
        guard.stream(modern=modern) as on_stream,
    ):
        for client in (guard.client(modern=modern), on_stream):
            client.capabilities = can if modern else {**can, "sampling": {"context": {}}}
            if not modern:
                await client.initialize()
            await client.call("hm::echo")
            said = script.called("tools/call")[-1]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
            assert said == {"elicitation": {"url": {}}} | ({} if modern else {"sampling": {}})


@pytest.mark.parametrize("server", ["hl", "sl", "el"])
async def test_a_server_is_told_in_the_handshake_what_it_may_ask_for(server: str, tmp_path: Path) -> None:
    script = nosy("legacy")
    async with behind(tmp_path, {server: script}, may_ask={server: [AskKind.ELICITATION, AskKind.ROOTS]}):
        inspected, used = [each["params"]["capabilities"] for each in script.called("initialize")]
        assert inspected == {}, "whoever only looks at it has nobody whom it could ask"
        assert used == {"elicitation": {"form": {}}, "roots": {"listChanged": True}}


async def test_roots_that_change_are_told_to_whom_they_concern(tmp_path: Path) -> None:
    scripts = {name: nosy(era) for name, (_, era) in UPSTREAMS.items()}
    method, may = (
        "notifications/roots/list_changed",
        {"hl": [AskKind.ROOTS], "sl": [AskKind.ROOTS], "hm": [AskKind.ROOTS], "el": [AskKind.SAMPLING]},
    )
    async with behind(tmp_path, scripts, may_ask=may) as guard:
        for count, how in enumerate(("http legacy", "stream legacy"), 1):
            async with speaking(guard, how) as client:
                await client.notify(method, {"who": "said this"})
                for server in ("hl", "sl"):
                    while len(told := scripts[server].called(method)) < count:
                        await guard.clock.advance(1)  # it is not told more often than that
                    assert "params" not in told[-1], "nothing of the client's goes along"
        for server in ("hm", "sm", "el"):
            assert scripts[server].called(method) == [], server
