"""What a server offers is listed again when it changes: never too often, never in part, and nothing goes unheard."""

from pathlib import Path

import pytest

from tests.simulators.hostile import cursor_loop, flood, never, on
from tests.simulators.script import Script
from tests.simulators.words import METHOD_NOT_FOUND, RpcError
from tests.upstreams.conduct import failing, holding
from tests.upstreams.flock import flock, played, reaching, settled

pytestmark = pytest.mark.anyio


async def test_a_changed_list_is_listed_again() -> None:
    script = Script("legacy")
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        script.tool("new", "said")
        await script.changed_list()
        await kept.clock.advance(0.875)
        assert len(kept.listings("a")) == 1, "it may go on changing for a moment"
        await kept.clock.advance(0.125)
        await kept.until(lambda: len(kept.listings("a")) == 2)
        assert kept.listings("a")[-1].tools[-1]["name"] == "new"
        await kept.clock.advance(100)
        assert len(kept.listings("a")) == 2
        assert kept.stood("a") == ["starting", "ready"], "it stayed ready all the time"


@pytest.mark.parametrize("again", [False, True])
async def test_a_change_during_a_listing_is_not_lost(again: bool) -> None:
    """Neither during the first one nor during a later one: what was read may have been the state before."""
    script = Script("legacy")
    script.hooks.append(on("prompts/list", holding(1 + again)))
    async with flock({"a": script}) as kept:
        if again:
            await kept.ready("a")
            await script.changed_list()
            await kept.clock.advance(1)
        await script.until(lambda: script.held)
        script.tool("new", "said")  # after the tools were listed
        await script.changed_list()
        await settled()
        script.go()
        await kept.until(lambda: len(kept.listings("a")) == 1 + again)
        assert "new" not in [tool["name"] for tool in kept.listings("a")[-1].tools]
        await kept.clock.advance(1)
        await kept.until(lambda: len(kept.listings("a")) == 2 + again)
        assert kept.listings("a")[-1].tools[-1]["name"] == "new"


async def test_a_flood_of_changes_is_one_listing_at_a_time() -> None:
    script = Script("legacy")
    script.tool("flood", "done")
    script.hooks.append(on("tools/call", flood(2000, "notifications/tools/list_changed", {})))
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        for listings in (2, 3, 4):
            await kept.call("a", "flood")
            await kept.call("a", "flood")
            await kept.clock.advance(1)
            await kept.until(lambda count=listings: len(kept.listings("a")) == count)  # type: ignore[misc]
            await settled()
            assert len(script.called("tools/list")) == listings


async def test_no_more_than_a_tenth_of_the_time_is_spent_on_listing() -> None:
    script = Script("legacy")
    script.hooks.append(on("tools/list", holding(2)))
    async with flock({"a": script}, retry_most_seconds=60, health_seconds=3600) as kept:
        await kept.ready("a")
        await script.changed_list()
        await kept.clock.advance(1)
        await script.until(lambda: script.held)
        await kept.clock.advance(4)  # so long it takes
        await script.changed_list()
        script.go()
        await kept.until(lambda: len(kept.listings("a")) == 2)
        await kept.clock.advance(35.875)
        assert len(script.called("tools/list")) == 2
        await kept.clock.advance(0.125)
        await script.received("tools/list", 3)


@pytest.mark.parametrize("how", ["stdio", "http"])
async def test_a_modern_server_is_asked_to_tell_of_changes(how: str, tmp_path: Path) -> None:
    script = Script("modern")
    async with played(how, script, tmp_path) as server, flock(reaching(tmp_path), server) as kept:
        await kept.ready("a")
        await script.until(lambda: script.listens)
        (listen,) = script.listens
        assert listen.wanted == {
            "toolsListChanged": True,
            "promptsListChanged": True,
            "resourcesListChanged": True,
        }
        script.tool("new", "said")
        await script.changed_list()
        while len(kept.listings("a")) == 1:
            await kept.clock.advance(1)
        assert kept.listings("a")[-1].tools[-1]["name"] == "new"
        assert kept.state("a") == "ready"


@pytest.mark.parametrize("capability", [None, {}, {"listChanged": False}, {"listChanged": "yes"}, [], "listChanged"])
async def test_one_that_does_not_tell_of_changes_is_not_asked_to(capability: object) -> None:
    script = Script("modern")
    script.capabilities = {"tools": capability, "logging": {"listChanged": True}}
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        await kept.clock.advance(3600)
        assert script.called("subscriptions/listen") == []


async def test_when_it_stops_telling_it_is_asked_again_and_listed_again() -> None:
    """Something may have changed meanwhile. Each time it is asked again later, whatever it does."""
    script = Script("modern")
    async with flock({"a": script}, health_seconds=3600) as kept:
        await kept.ready("a")
        for pause in (0.5, 1, 2):
            asked = len(script.called("subscriptions/listen"))
            listed = len(kept.listings("a"))
            await settled()
            script.close_listens()
            await settled()
            await kept.clock.advance(pause - 0.125)
            assert len(script.called("subscriptions/listen")) == asked
            await kept.clock.advance(0.125)
            assert len(script.called("subscriptions/listen")) == asked + 1
            await kept.clock.advance(1)
            assert len(kept.listings("a")) == listed + 1
        await kept.clock.advance(60)
        script.close_listens()
        await settled()
        await kept.clock.advance(0.5)
        assert len(script.called("subscriptions/listen")) == 5, "it held for long, so it was asked again soon"
        assert kept.stood("a") == ["starting", "ready"]


@pytest.mark.parametrize(("code", "asked"), [(METHOD_NOT_FOUND, 1), (-32000, 5)])
async def test_one_that_refuses_to_tell_works_all_the_same(code: int, asked: int) -> None:
    script = Script("modern")
    script.answers["subscriptions/listen"] = failing(RpcError(code, "no"))
    async with flock({"a": script}, health_seconds=3600) as kept:
        await kept.ready("a")
        await kept.clock.advance(8)
        assert len(script.called("subscriptions/listen")) == asked
        assert await kept.call("a")
        assert kept.stood("a") == ["starting", "ready"]


async def test_what_changes_from_the_first_listing_on_is_heard() -> None:
    script = Script("modern")
    script.hooks.append(on("tools/list", holding(1)))
    async with flock({"a": script}) as kept:
        await script.until(lambda: script.held)
        assert [message["method"] for message in script.calls] == [
            "server/discover",
            "subscriptions/listen",
            "tools/list",
        ]
        script.tool("new", "said")
        await script.changed_list()
        await settled()
        script.go()
        await kept.ready("a")
        await kept.clock.advance(1)
        assert [tool["name"] for tool in kept.listings("a")[-1].tools][-1] == "new"


@pytest.mark.parametrize("how", ["error", "endless", "no list", "never"])
async def test_where_it_cannot_be_listed_again_what_it_listed_before_stays(how: str) -> None:
    script = Script("legacy")
    async with flock({"a": script}, connect_seconds=60 if how != "never" else 2) as kept:
        await kept.ready("a")
        before = kept.listings("a")[-1]
        match how:
            case "error":
                script.answers["tools/list"] = failing(RpcError(-32000, "not now"))
            case "endless":
                script.hooks.append(on("tools/list", cursor_loop(script)))
            case "no list":
                script.answers["tools/list"] = {"tools": "none"}
            case _:
                script.hooks.append(on("tools/list", never))
        await script.changed_list()
        await kept.clock.advance(1)
        await kept.until(lambda: kept.condition("a").error)
        assert kept.condition("a").error.startswith("the server could not be listed again: ")
        assert kept.state("a") == "ready"
        assert kept.listings("a") == [before]
        assert (await kept.call("a", "add", {"a": 1, "b": 2}))["structuredContent"] == {"sum": 3}
        asked = len(script.called("tools/list"))
        await kept.clock.advance(0.375)
        assert len(script.called("tools/list")) == asked, "not at once"
        script.hooks.clear()
        script.answers.pop("tools/list", None)
        await kept.clock.advance(0.125)
        await kept.until(lambda: len(kept.listings("a")) == 2)
        await kept.until(lambda: not kept.condition("a").error)
