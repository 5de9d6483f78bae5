"""Long replies on the guard face: told in pages, each of them a call that is judged and recorded."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.capabilities import Effect
from tests.gate import Gate, gate, remote
from tests.gateway.granting import granted, revoked
from tests.gateway.guard_face import agent, calls_to, refused
from tests.gateway.leaving import leaving
from tests.gateway.speaking import HOWS, TOKEN, callers, guarded, nothing_happens, refused_once, scope, turned_away
from tests.gateway.talkative import LONG, ONCE, called, cut, more, talkative
from tests.review import DECISION
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("how", HOWS)
async def test_a_long_reply_is_read_page_by_page(how: str, tmp_path: Path) -> None:
    script = talkative()
    async with guarded(tmp_path, script, replies__shown=ONCE) as guard, agent(guard, how) as client:
        result = await called(client)
        text, notice = (item["text"] for item in result["content"])
        place = cut(result)
        assert (place["offset"], place["end"], place["total"]) == (0, ONCE, len(LONG))
        assert f'"key": "{place["key"]}", "offset": {ONCE}' in notice
        entries = [result["_meta"]["mcpguard/call"]]
        while cut(result)["end"] < cut(result)["total"]:
            result = await more(client, key=place["key"], offset=cut(result)["end"])
            text += result["content"][0]["text"]
            entries.append(result["_meta"]["mcpguard/call"])
        assert text == LONG
        assert calls_to(script) == ["echo"], "the server was asked once"
        first, *pages = guard.entries()
        assert [each["entry"] for each in (first, *pages)] == entries
        assert [each["continues"] for each in pages] == [first["entry"]] * 2
        assert all(each["method"] == "read_more" for each in pages)
        for one in ("name", "server", "effect", "operation", "declared", "caller", "fingerprint"):
            assert {each[one] for each in pages} == {first[one]}, one


async def test_it_goes_on_where_it_was_cut_and_any_part_can_be_had(tmp_path: Path) -> None:
    async with guarded(tmp_path, talkative(), replies__shown=ONCE) as guard, agent(guard) as client:
        key = cut(await called(client))["key"]
        assert (await more(client, key=key))["content"][0]["text"] == LONG[ONCE : 2 * ONCE]
        assert (await more(client, key=key, offset=10, limit=20))["content"][0]["text"] == LONG[10:30]
        greedy = await more(client, key=key, offset=0, limit=len(LONG))
        assert greedy["content"][0]["text"] == LONG[:ONCE], "never more than at once"
        last = await more(client, key=key, offset=len(LONG) - 1)
        assert "The rest" not in last["content"][1]["text"]


async def test_what_is_short_is_passed_on_as_it_is(tmp_path: Path) -> None:
    async with guarded(tmp_path, talkative("short"), replies__shown=ONCE) as guard, agent(guard) as client:
        result = await called(client)
        assert result["content"] == [{"type": "text", "text": "short"}]
        assert "mcpguard/cut" not in result["_meta"]


async def test_a_server_cannot_say_that_a_reply_was_cut(tmp_path: Path) -> None:
    forged = {"key": "k", "offset": 0, "end": 1, "total": 2}
    said = {"content": [], "_meta": {"mcpguard/cut": forged, "mcpguard/call": "1", "its/own": 1}}
    async with guarded(tmp_path, talkative(said)) as guard, agent(guard) as client:
        meta = (await called(client))["_meta"]
        assert (meta["its/own"], meta["mcpguard/call"]) == (1, guard.entries()[0]["entry"])
        assert "mcpguard/cut" not in meta


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"key": "x" * 43}, "key"),
        ({"key": "x" * 101}, "key"),
        ({"key": 7}, "key"),
        ({}, "key"),
        ({"offset": -1}, "offset"),
        ({"offset": len(LONG)}, "offset"),
        ({"offset": 2**31 + 1}, "offset"),
        ({"offset": True}, "offset"),
        ({"limit": 0}, "limit"),
        ({"whole": True}, "whole"),
    ],
)
async def test_what_names_no_page_is_refused(given: Json, place: str, tmp_path: Path) -> None:
    script = talkative()
    async with guarded(tmp_path, script, replies__shown=ONCE) as guard, agent(guard) as client:
        key = cut(await called(client))["key"]
        with nothing_happens(guard, script):
            said = await refused(client, "read_more", **(given if place == "key" else {"key": key, **given}))
        assert said["reason"] == "arguments:invalid"
        assert said["expected"].startswith(f"{place}: ")
        assert (await turned_away(guard)) == {("network", "arguments"): 1}


async def test_a_key_is_nothing_to_anybody_else(tmp_path: Path) -> None:
    """Another caller, another session of the same caller, another door."""
    script = talkative()
    async with guarded(tmp_path, script, replies__shown=ONCE) as guard:
        one, two = await granted(guard, "one"), await granted(guard, "two")
        async with agent(guard, "http legacy", one.token) as client:
            key = cut(await called(client))["key"]
            for how, token in (
                ("http legacy", two.token),
                ("http modern", two.token),
                ("http legacy", one.token),
                ("http modern", one.token),
                ("stream legacy", one.token),
                ("http modern", None),
            ):
                async with agent(guard, how, token) as other:
                    with nothing_happens(guard, script):
                        said = await refused(other, "read_more", key=key)
                    assert said["expected"].startswith("key: unknown or expired")
            assert (await more(client, key=key))["content"][0]["text"] == LONG[ONCE : 2 * ONCE]


async def test_a_key_ends_with_its_time_its_stream_and_its_caller(tmp_path: Path) -> None:
    script = talkative()
    async with guarded(tmp_path, script, replies__shown=ONCE, replies__kept_seconds=50) as guard:
        async with agent(guard) as client:
            key = cut(await called(client))["key"]
            await guard.clock.advance(49)
            assert "isError" not in await more(client, key=key)
            await guard.clock.advance(2)
            with nothing_happens(guard, script):
                await refused(client, "read_more", key=key)
        caller = await granted(guard)
        async with agent(guard, token=caller.token) as client:
            key = cut(await called(client))["key"]
            await revoked(guard, caller)
            with nothing_happens(guard, script):
                assert (await client.call("read_more", {"key": key})).status == 401


async def _withdrawn(guard: Gate) -> str:
    await guard.now.guard.decisions.quarantine("web", DECISION)
    return "server:quarantined"


async def _blocked(guard: Gate) -> str:
    await guard.now.guard.decisions.block("web", DECISION)
    return "server:blocked"


@pytest.mark.parametrize("way", [_withdrawn, _blocked])
async def test_every_page_is_judged_as_things_stand_then(way: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a function
    script = talkative()
    async with guarded(tmp_path, script, replies__shown=ONCE) as guard, agent(guard) as client:
        key = cut(await called(client))["key"]
        reason = await way(guard)
        with refused_once(guard, reason, script) as entry:
            said = await refused(client, "read_more", key=key)
        assert said["reason"] == reason
        assert entry["continues"] == guard.entries()[0]["entry"]


async def test_pages_count_as_calls(tmp_path: Path) -> None:
    script = talkative()
    async with (
        guarded(tmp_path, script, replies__shown=ONCE, budgets__capability_minute=2) as guard,
        agent(guard) as client,
    ):
        key = cut(await called(client))["key"]
        assert "isError" not in await more(client, key=key)
        with refused_once(guard, "budget:calls", script):
            await refused(client, "read_more", key=key)


async def test_the_server_need_not_be_there_any_more(tmp_path: Path) -> None:
    script = talkative()
    script.capabilities = {"tools": {}}
    async with (
        leaving(script) as server,
        gate(tmp_path, remote("web", server.url), replies__shown=ONCE) as guard,
        agent(guard) as client,
    ):
        await guard.ready("web")
        key = cut(await called(client))["key"]
        await server.go()
        with refused_once(guard, "server:unreachable", script):
            await called(client)
        assert (await more(client, key=key))["content"][0]["text"] == LONG[ONCE : 2 * ONCE]


async def test_who_must_declare_reads_on_with_what_was_declared(tmp_path: Path) -> None:
    script = talkative()
    script.tools[:] = [{**each, "annotations": {"readOnlyHint": False}} for each in script.tools]
    some = callers(**{TOKEN: scope("*", "*", *Effect)})
    async with (
        guarded(tmp_path, script, callers=some, replies__shown=ONCE) as guard,
        agent(guard, token=TOKEN) as client,
    ):
        key = cut(await called(client, "call_tool_destructive"))["key"]
        assert "isError" not in await more(client, key=key)
        first, page = guard.entries()
        assert (page["operation"], page["declared"]) == (first["operation"], True)


async def test_structure_is_cut_too_and_can_be_read(tmp_path: Path) -> None:
    structure = {"rows": LONG}
    script = talkative({"content": [{"type": "text", "text": "see rows"}], "structuredContent": structure})
    async with guarded(tmp_path, script, replies__shown=ONCE) as guard, agent(guard) as client:
        result = await called(client)
        assert "structuredContent" not in result
        text = result["content"][0]["text"] + result["content"][1]["text"]
        while cut(result)["end"] < cut(result)["total"]:
            result = await more(client, key=cut(result)["key"], offset=cut(result)["end"])
            text += result["content"][0]["text"]
        assert json.loads(text.removeprefix("see rows")) == structure


@pytest.mark.parametrize("content", [None, 7, "a", {}, [7, "a", None]])
async def test_what_is_no_list_of_items_can_be_read_too(content: Any, tmp_path: Path) -> None:  # noqa: ANN401 - JSON
    script = talkative({"content": content, "structuredContent": {"rows": LONG}})
    async with guarded(tmp_path, script, replies__shown=ONCE) as guard, agent(guard) as client:
        result = await called(client)
        assert all(isinstance(item, dict) for item in result["content"])
        rest = await more(client, key=cut(result)["key"], offset=cut(result)["total"] - 10)
        assert LONG.endswith(json.loads('"' + rest["content"][0]["text"].removesuffix('"}').removeprefix("n") + '"'))
        assert [each["outcome"] for each in guard.entries()] == ["answered", "answered"]


async def test_a_reply_that_is_larger_than_all_that_is_kept_costs_nobody_theirs(tmp_path: Path) -> None:
    script = talkative()
    async with guarded(tmp_path, script, replies__shown=ONCE, replies__kept=2 * len(LONG)) as guard:
        one, two = await granted(guard, "one"), await granted(guard, "two")
        async with agent(guard, token=one.token) as greedy, agent(guard, token=two.token) as modest:
            key = cut(await called(modest))["key"]
            script.answers["tools/call echo"] = 3 * LONG
            result = await called(greedy)
            assert cut(result) == {"offset": 0, "end": ONCE, "total": 3 * len(LONG)}, "there is no key to it"
            assert result["content"][-1]["text"].endswith("The rest is too long to keep.]")
            assert "isError" not in await more(modest, key=key)


async def test_the_greediest_loses_the_oldest(tmp_path: Path) -> None:
    script = talkative()
    async with guarded(tmp_path, script, replies__shown=ONCE, replies__kept=3 * len(LONG)) as guard:
        one, two = await granted(guard, "one"), await granted(guard, "two")
        async with agent(guard, token=one.token) as greedy, agent(guard, token=two.token) as modest:
            kept = cut(await called(modest))["key"]
            keys = [cut(await called(greedy))["key"] for _ in range(3)]
            await refused(greedy, "read_more", key=keys[0])
            for client, key in ((modest, kept), (greedy, keys[1]), (greedy, keys[2])):
                assert "isError" not in await more(client, key=key)
