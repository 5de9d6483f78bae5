"""Servers over HTTP that ask on the stream that belongs to no call: it is known whose it is while there is one call."""

import json
from pathlib import Path

import anyio
import pytest

from tests.gate import Gate
from tests.gateway.asking import ANSWERS, FORM, answering, behind, nosy, rounds
from tests.simulators.asked import Asked
from tests.simulators.client import Reply
from tests.simulators.script import Script
from tests.simulators.words import Json, RpcError, request, text

pytestmark = pytest.mark.anyio
DENIED = -31010


async def ask_aside(asked: Asked) -> Json:
    """Ask where nothing says for which call, and say what came of it."""
    if asked.arguments.get("wait"):
        await asked.script.hold()
    id_ = f"aside-{asked.id}"
    pending = asked.script.expect(id_)
    await asked.party.push(request(id_, FORM["method"], FORM["params"]))
    try:
        return text(json.dumps(await pending.answer(), sort_keys=True))
    except RpcError as error:
        return text(str(error.code))


def aside() -> Script:
    script = Script("legacy")
    script.tool("aside", ask_aside)
    return script


async def listening(script: Script) -> None:
    """Wait until the guard listens to what the server says of its own accord."""
    await script.until(lambda: any(party.wants("notifications/tools/list_changed", {}) for party in script.parties))


async def called(guard: Gate, replies: list[Reply], name: str, **arguments: object) -> None:
    client = await guard.legacy()
    answering(client, {"elicitation": {"action": "accept", "content": {"name": name}}})
    replies.append(await client.call("hl::aside", arguments))


async def test_the_only_call_is_the_one_that_is_meant(tmp_path: Path) -> None:
    script = aside()
    async with behind(tmp_path, {"hl": script}) as guard:
        await listening(script)
        client = guard.client()
        asked = answering(client)
        reply = await client.fulfil("tools/call", {"name": "hl::aside"})
        assert json.loads(reply.text) == ANSWERS["elicitation"]
        assert len(asked) == 1
        assert [each["kind"] for each in rounds(guard)] == ["asked", "heard"]


async def test_of_several_none_is_meant_and_from_then_on_there_is_one_at_a_time(tmp_path: Path) -> None:
    script, replies = aside(), list[Reply]()
    async with behind(tmp_path, {"hl": script}) as guard:
        await listening(script)
        async with anyio.create_task_group() as tasks:
            for name in ("Ada", "Bea"):
                tasks.start_soon(lambda name=name: called(guard, replies, name, wait=True))  # type: ignore[misc]
            await script.until(lambda: script.held == 2)
            script.go()
            await script.until(lambda: script.held == 0)
        assert str(DENIED) in [reply.text for reply in replies], "whoever asked first was one of two"
        first = len(rounds(guard))
        async with anyio.create_task_group() as tasks:
            for name in ("Ada", "Bea", "Eve"):
                tasks.start_soon(called, guard, replies, name)
        names = [json.loads(reply.text)["content"]["name"] for reply in replies[2:]]
        assert sorted(names) == ["Ada", "Bea", "Eve"]
        assert [each["kind"] for each in rounds(guard)[first:]] == ["asked", "heard"] * 3, "one after the other"


@pytest.mark.parametrize("line", [0, 8])
@pytest.mark.parametrize("server", ["sl", "el", "hl"])
async def test_after_a_call_that_was_taken_back_it_takes_a_new_connection(
    server: str, line: int, tmp_path: Path
) -> None:
    """Also where nobody may wait in its line. Over HTTP that shows with the first question that is asked aside."""
    script = nosy("legacy") if server != "hl" else aside()
    name = "aside" if server == "hl" else "inquire"
    params: Json = {"name": f"{server}::{name}", "arguments": {"kinds": ["elicitation"]}}
    given = {"upstreams__queue": line}
    async with behind(tmp_path, {server: script}, **given) as guard, guard.stream(modern=False) as other:
        if server == "hl":
            await listening(script)
        before = len(script.called("initialize"))
        await other.initialize()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(other.call, f"{server}::slow")
            await script.until(lambda: script.held)
            await other.cancel(other.last)
            await script.until(lambda: script.abandoned)
            tasks.cancel_scope.cancel()
        client = guard.client()
        asked = answering(client)
        if server == "hl":
            refused = await client.fulfil("tools/call", params)
            assert str(DENIED) in str(refused.message)
            assert asked == [], "the server may have asked for the call that was taken back"
            await script.until(lambda: len(script.parties) == 1 and len(script.called("initialize")) > before)
            await listening(script)
        assert json.loads((await client.fulfil("tools/call", params)).text)
        assert len(asked) == 1
        assert len(script.called("initialize")) == before + 1


async def test_a_server_that_asks_in_vain_and_is_not_in_doubt_stays_connected(tmp_path: Path) -> None:
    script, replies = aside(), list[Reply]()
    async with behind(tmp_path, {"hl": script}) as guard:
        await listening(script)
        before = len(script.called("initialize"))
        async with anyio.create_task_group() as tasks:
            for name in ("Ada", "Bea"):
                tasks.start_soon(lambda name=name: called(guard, replies, name, wait=True))  # type: ignore[misc]
            await script.until(lambda: script.held == 2)
            script.go()
        await guard.clock.advance(10)
        await called(guard, replies, "Eve")
        assert json.loads(replies[-1].text)["content"]["name"] == "Eve"
        assert len(script.called("initialize")) == before


async def test_a_client_that_thinks_leaves_the_server_to_others(tmp_path: Path) -> None:
    """More clients think than the server works on calls at once."""
    for server, era in (("hl", "legacy"), ("hm", "modern"), ("sm", "modern")):
        folder = tmp_path / server
        folder.mkdir()
        script = nosy(era)
        async with behind(folder, {server: script}, upstreams__concurrency=2, upstreams__queue=0) as guard:
            client = guard.client()
            params: Json = {"name": f"{server}::inquire", "arguments": {"kinds": ["roots"]}}
            waiting = [(await client.request("tools/call", params)).result for _ in range(5)]
            assert (await client.call(f"{server}::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
            for each in waiting:
                given = dict.fromkeys(each["inputRequests"], ANSWERS["roots"])
                again = params | {"requestState": each["requestState"], "inputResponses": given}
                assert json.loads((await client.request("tools/call", again)).text) == {"roots": ANSWERS["roots"]}
            assert [each["outcome"] for each in guard.entries()] == ["answered"] * 6
