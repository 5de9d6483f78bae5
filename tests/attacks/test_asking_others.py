"""A question is answered by the client whose call it is, once: not by another caller, session, stream, face or call."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.attacks.asking import (
    ADA,
    ASKED_BY,
    EVE,
    PERMITTED,
    TOOL,
    Questioned,
    answers_to,
    nosy,
    notes,
    once_each,
    responses,
)
from tests.attacks.in_front import until
from tests.gate import Gate
from tests.gateway.speaking import (
    HOWS,
    ONLY,
    OTHER_TOKEN,
    TOKEN,
    guarded,
    nothing_happens,
    speaking,
    turned_away,
    two_callers,
)
from tests.simulators.client import RawClient, Reply
from tests.simulators.script import Script
from tests.simulators.words import Json, result

pytestmark = pytest.mark.anyio
MODERN = ("http modern", "stream modern")
LEGACY = ("http legacy", "stream legacy")


@asynccontextmanager
async def asking(folder: Path, script: Script, over: str = "http") -> AsyncIterator[Gate]:
    async with guarded(folder, script, over=over, callers=two_callers(), may_ask=PERMITTED) as guard:
        yield guard


def again(call: Questioned, **changed: object) -> Json:
    """The request of this call once more, with answers."""
    said = {**call.params, "requestState": call.state, "inputResponses": dict.fromkeys(call.questions, EVE), **changed}
    return {key: value for key, value in said.items() if value is not None}


def elsewhere(state: str) -> list[Json]:
    """What is different in a request that is not the same."""
    return [
        {"name": "web::other"},
        {"name": "ask"},
        {"arguments": {"n": 2}},
        {"arguments": {}},
        {"arguments": None},
        {"more": 1},
        {"requestState": state[:-1]},
        {"requestState": state + "="},
        {"requestState": state.swapcase()},
        {"requestState": "the server's own state"},
        {"requestState": ""},
    ]


def gone(reply: Reply) -> bool:
    return reply.error["code"] == -32602 and "requestState is unknown" in reply.error["message"]


@pytest.mark.parametrize("server", ASKED_BY)
async def test_a_state_is_worth_nothing_to_anybody_else_nor_for_anything_else(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    script = nosy(era)
    script.tool("other", "other")
    async with asking(tmp_path, script, over) as guard:
        for how in MODERN:
            async with AsyncExitStack() as stack:
                tasks = await stack.enter_async_context(anyio.create_task_group())
                client = await stack.enter_async_context(speaking(guard, how, token=TOKEN))
                call = await Questioned(client, tasks, arguments={"n": 1}).begin()
                others = [
                    await stack.enter_async_context(speaking(guard, other, token=token, only=only))
                    for other in MODERN
                    for token in (None, TOKEN, OTHER_TOKEN)
                    for only in (None, "web")
                    if (other, token, only) != (how, TOKEN, None) or how == "stream modern"
                ]
                for other in others:
                    for name in (TOOL, "ask"):
                        with nothing_happens(guard, script):
                            assert gone(await other.request("tools/call", again(call, name=name)))
                for changed in elsewhere(call.state):
                    with nothing_happens(guard, script):
                        reply = await client.request("tools/call", again(call, **changed))
                        assert gone(reply), changed
                for method, params in (
                    ("prompts/get", {"name": TOOL, "arguments": {"n": "1"}}),
                    ("resources/read", {"uri": "note://first"}),
                ):
                    with nothing_happens(guard, script):
                        said = {**params, "requestState": call.state, "inputResponses": {}}
                        assert gone(await client.request(method, said))
                assert (await call.answer()).text == json.dumps(ADA)
                with nothing_happens(guard, script):
                    assert gone(await client.request("tools/call", again(call)))
        assert EVE not in [each for given in responses(script) for each in given.values()]
        assert EVE not in [each.get("result") for each in answers_to(script)]
        counted = await turned_away(guard)
        assert {why for _, why in counted} == {"request state"}


@pytest.mark.parametrize("server", ASKED_BY)
async def test_a_state_used_twice_in_the_same_moment_counts_once(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    script = nosy(era)
    async with asking(tmp_path, script, over) as guard:
        for how in MODERN:
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                call = await Questioned(client, tasks).begin()
                replies: list[Reply] = []

                async def use(client: RawClient, said: Json, replies: list[Reply]) -> None:
                    replies.append(await client.request("tools/call", said))

                async with anyio.create_task_group() as users:
                    for _ in range(8):
                        users.start_soon(use, client, again(call), replies)
                good = [reply for reply in replies if "result" in (reply.message or {})]
                assert [reply.text for reply in good] == [json.dumps(EVE)]
                assert all(gone(reply) for reply in replies if reply not in good)
        assert notes(guard) == [("asked", "", ""), ("heard", "accept", "")] * len(MODERN)
        assert once_each(guard.said())


async def test_a_state_is_worth_nothing_when_its_time_is_over(tmp_path: Path) -> None:
    script = nosy()
    async with guarded(tmp_path, script, may_ask=PERMITTED, asking__answer_seconds=0.05) as guard:
        for how in MODERN:
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                call = await Questioned(client, tasks).begin()
                await until(lambda: not guard.now.ledger.open_entries)
                with nothing_happens(guard, script):
                    told = (await client.request("tools/call", again(call))).result["_meta"]["mcpguard/refusal"]
                    assert (told["reason"], told["executed"]) == ("client:unanswered", "unknown")
                    assert gone(await client.request("tools/call", again(call)))
        assert notes(guard) == [("asked", "", ""), ("heard", "", "client:unanswered")] * len(MODERN)
        assert responses(script) == []


@pytest.mark.parametrize("server", ASKED_BY)
async def test_an_answer_counts_once_and_only_from_the_session_that_was_asked(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    script = nosy(era)
    async with asking(tmp_path, script, over) as guard:
        for how in LEGACY:
            async with AsyncExitStack() as stack:
                tasks = await stack.enter_async_context(anyio.create_task_group())
                client = await stack.enter_async_context(speaking(guard, how, token=TOKEN))
                call = await Questioned(client, tasks).begin()
                (id_,) = call.questions
                for other in HOWS:
                    for token in (None, TOKEN, OTHER_TOKEN):
                        for only in (None, "web"):
                            thief = await stack.enter_async_context(speaking(guard, other, token=token, only=only))
                            if other == "stream modern":
                                await thief.discover()
                            await thief.send(result(id_, EVE))
                for guess in (f"{id_} ", id_.upper(), "web:0", "web:", 1, id_.partition(":")[2], "other:1", ""):
                    await client.send(result(guess, EVE))
                await client.send({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "no"}})
                await client.send(result(id_, ADA))
                await client.send(result(id_, EVE))
                assert (await call.ended()).text == json.dumps(ADA)
                await client.send(result(id_, EVE))
                assert (await client.request("ping")).result == {}
        assert notes(guard) == [("asked", "", ""), ("heard", "accept", "")] * len(LEGACY)
        assert EVE not in [each for given in responses(script) for each in given.values()]
        assert [each["result"] for each in answers_to(script)] == ([] if era == "modern" else [ADA] * len(LEGACY))
        assert sum(count for (_, why), count in (await turned_away(guard)).items() if why == "answer") > 10


async def test_another_caller_cannot_answer_in_somebody_elses_session(tmp_path: Path) -> None:
    script = nosy()
    async with asking(tmp_path, script) as guard, anyio.create_task_group() as tasks:
        client = await guard.legacy(token=TOKEN)
        call = await Questioned(client, tasks).begin()
        (id_,) = call.questions
        for path, token in (("/mcp/all", OTHER_TOKEN), ("/mcp/all", None), (ONLY + "web", TOKEN)):
            thief = guard.client(path, modern=False, token=token)
            thief.session = client.session
            assert (await thief.send(result(id_, EVE))).status == 404
        modern = guard.client(token=TOKEN)
        assert (await modern.send(result(id_, EVE))).status == 400
        assert (await call.answer()).text == json.dumps(ADA)


@pytest.mark.parametrize("server", ASKED_BY)
async def test_answers_to_what_was_never_asked_reach_no_server(server: str, tmp_path: Path) -> None:
    """Neither those that come with a call, nor more of them than were asked for."""
    over, era = server.split()
    script = nosy(era)
    unasked = {"who": EVE, "web:1": EVE, "": EVE}
    async with asking(tmp_path, script, over) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                for method, params in (
                    ("tools/call", {"name": "web::echo"}),
                    ("prompts/get", {"name": "web::greet"}),
                ):
                    reply = await client.request(method, {**params, "inputResponses": unasked})
                    assert ("result" in (reply.message or {})) is client.modern, "earlier revisions do not have it"
                call = await Questioned(client, tasks).begin()
                if client.modern:
                    await call.say({**unasked, "more": EVE, **dict.fromkeys(call.questions, ADA)})
                    assert (await call.ended()).text == json.dumps(ADA)
                else:
                    await call.answer()
        made = [each["params"] for each in script.calls if each.get("method") in ("tools/call", "prompts/get")]
        assert EVE not in [each for sent in made for each in sent.get("inputResponses", {}).values()]
        assert {sent.get("requestState") for sent in made} <= {None, "the server's own state"}


@pytest.mark.parametrize("server", ASKED_BY)
async def test_an_answer_that_is_none_is_asked_for_again(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    script = nosy(era)
    async with asking(tmp_path, script, over) as guard:
        for how in MODERN:
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                call = await Questioned(client, tasks).begin()
                (name,) = call.questions
                states = {call.state}
                for given in ({}, {name: None}, {name: [ADA]}, {"other": EVE}, {name.upper(): EVE}, [ADA], None):
                    reply = await client.request("tools/call", again(call, inputResponses=given))
                    assert reply.result["inputRequests"] == call.questions, given
                    call.state = reply.result["requestState"]
                    states.add(call.state)
                assert len(states) == 8
                assert (await call.answer()).text == json.dumps(ADA)
        assert notes(guard) == [("asked", "", ""), ("heard", "accept", "")] * len(MODERN)


async def test_answers_that_come_with_a_call_are_taken_once_to_what_the_server_then_asks(tmp_path: Path) -> None:
    """As a client does that keeps no state: it makes its call anew, with the answers, and names no call that waits."""
    script = nosy("modern", state=None)
    async with asking(tmp_path, script, "http") as guard:
        client = guard.client()
        client.by_hand = True
        params = {"name": TOOL, "arguments": {}, "inputResponses": {"who": ADA, "more": EVE, "": EVE}}
        reply = await client.request("tools/call", params)
        assert reply.text == json.dumps(ADA)
        assert [each["params"].get("inputResponses") for each in script.called("tools/call")] == [None, {"who": ADA}]
        assert notes(guard) == [("asked", "", ""), ("heard", "accept", "")], "recorded as any other answer"
        again = await client.request("tools/call", {**params, "inputResponses": {"whom": ADA}})
        assert again.result["inputRequests"].keys() == {"who"}, "what was not answered is asked"
