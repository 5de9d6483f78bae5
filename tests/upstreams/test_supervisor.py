"""One upstream is kept connected: through every state, with pauses that nothing shortens, and listed anew on time.

Servers are scripts that are reached by hand. Time is the test's: what happens later happens when the clock is moved.
"""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.connections import Condition
from mcpguard.domain.launches import Declared, Era
from mcpguard.upstreams.conversation import Conversation, ServerError
from mcpguard.upstreams.fleet import Unreachable
from mcpguard.upstreams.switchboard import Switchboard
from mcpguard.upstreams.transports.transport import TransportEnded
from tests.simulators.asked import Asked, Reply
from tests.simulators.hostile import cursor_loop, flood, never, on, once
from tests.simulators.script import Hook, Next, Script
from tests.simulators.words import METHOD_NOT_FOUND, Json, RpcError
from tests.upstreams.flock import Flock, flock, plain, played, reaching, settled
from tests.upstreams.played import PATIENCE

pytestmark = pytest.mark.anyio
GONE = TransportEnded("nobody is there")


def until_next_try(condition: Condition) -> float:
    """In seconds, without the microseconds by which the clock's readings differ."""
    assert condition.next_try is not None
    return round((condition.next_try - condition.since) / 1_000_000, 3)


async def pauses(kept: Flock, name: str, count: int) -> list[float]:
    """How long the next pauses are that follow each other without a connection in between."""
    found = []
    for _ in range(count):
        condition = await kept.stands("error", name)
        found.append(seconds := until_next_try(condition))
        await kept.clock.advance(seconds)
        await kept.until(lambda seen=condition: kept.condition(name).since != seen.since)  # type: ignore[misc]
    return found


async def test_it_goes_from_disconnected_over_connecting_to_ready() -> None:
    script = Script()
    async with flock({"a": script}) as kept:
        condition = await kept.ready("a")
        assert kept.stood("a") == ["connecting", "ready"]
        assert condition == Condition(
            condition.state, condition.since, error="", next_try=None, protocol="2026-07-28", server="simulated 1.0"
        )
        assert [tool["name"] for tool in kept.listings("a")[-1].tools] == [tool["name"] for tool in script.tools]
    assert kept.stood("a") == ["connecting", "ready", "disconnected"]
    assert kept.removed("a")


async def test_no_call_reaches_it_before_it_is_ready() -> None:
    script = Script()
    script.hooks.append(on("prompts/list", never))
    async with flock({"a": script}) as kept:
        await script.received("prompts/list")
        with pytest.raises(Unreachable):
            await kept.call("a")
        assert kept.state("a") == "connecting"
        assert script.called("tools/call") == []


async def test_when_it_hangs_up_it_says_why_since_when_and_when_it_is_tried_again() -> None:
    async with flock({"a": Script()}) as kept:
        await kept.ready("a")
        before = kept.clock.now()
        await kept.wires.open["a"].cut()
        condition = await kept.stands("error", "a")
        assert condition.error == "the server hung up"
        assert condition.since > before
        assert until_next_try(condition) == 0.5
        with pytest.raises(Unreachable):
            await kept.call("a")
        await kept.clock.advance(0.5)
        await kept.ready("a")
        assert kept.condition("a").error == ""
        assert kept.stood("a") == ["connecting", "ready", "error", "connecting", "ready"]


async def test_each_pause_is_longer_than_the_one_before_up_to_a_limit() -> None:
    async with flock({"a": GONE}, retry_seconds=1, retry_most_seconds=8) as kept:
        assert await pauses(kept, "a", 6) == [0.5, 1, 2, 4, 4, 4]
        assert kept.condition("a").error == "nobody is there"
        assert kept.condition("a").attempts == 7


async def test_nothing_shortens_a_pause() -> None:
    """Not a call, not a restart, not the same configuration again."""
    async with flock({"a": GONE}, retry_seconds=8) as kept:
        condition = await kept.stands("error", "a")
        await kept.clock.advance(3.875)
        assert kept.fleet.restart("a")
        kept.fleet.want([plain("a")])
        with pytest.raises(Unreachable):
            await kept.call("a")
        await kept.clock.advance(0.0625)
        assert kept.condition("a") == condition
        assert kept.wires.reached == ["a"]
        await kept.clock.advance(0.0625)
        await kept.until(lambda: kept.wires.reached == ["a", "a"])
        await kept.stands("error", "a")
        await kept.clock.advance(7.875)
        assert kept.wires.reached == ["a", "a"], (
            "a restart that was asked for during a pause is no reason to skip the next"
        )


async def test_a_restart_is_followed_by_a_pause_that_grows_too() -> None:
    async with flock({"a": Script()}, retry_seconds=1, retry_most_seconds=60) as kept:
        for pause in (0.5, 1, 2, 4):
            await kept.ready("a")
            assert kept.fleet.restart("a")
            condition = await kept.stands("error", "a")
            assert condition.error == "it is being restarted"
            assert until_next_try(condition) == pause
            await kept.clock.advance(pause)
    assert not kept.fleet.restart("a")


@pytest.mark.parametrize(("held", "next_pause"), [(59.0, 4.0), (61.0, 0.5)])
async def test_only_a_connection_that_held_for_a_while_lets_pauses_be_short_again(
    held: float, next_pause: float
) -> None:
    scripts: dict[str, Script | BaseException] = {"a": GONE}
    async with flock(scripts, retry_seconds=1, retry_most_seconds=60, health_seconds=3600) as kept:
        assert await pauses(kept, "a", 2) == [0.5, 1]
        await kept.stands("error", "a")
        kept.wires.scripts["a"] = Script()
        await kept.clock.advance(2)
        await kept.ready("a")
        await kept.clock.advance(held)
        await kept.wires.open["a"].cut()
        assert await pauses(kept, "a", 1) == [next_pause]


@pytest.mark.parametrize("era", list(Era))
async def test_one_that_wants_credentials_waits_for_them(era: Era) -> None:
    said = {"code": -32603, "message": "the server answered with HTTP status 401", "data": {"status": 401}}
    async with flock({"a": ServerError(said)}, plain("a", era=era)) as kept:
        condition = await kept.stands("authenticating", "a")
        assert condition.error == "the server answered with HTTP status 401"
        assert condition.next_try is not None


async def test_an_error_of_the_protocol_that_speaks_of_401_is_no_demand_for_credentials() -> None:
    script = Script()
    script.answers["tools/list"] = failing(RpcError(-32000, "401", {"status": 401}))
    async with flock({"a": script}) as kept:
        condition = await kept.stands("error", "a")
        assert condition.error == "the server answered with the error -32000"


async def test_what_a_server_writes_into_its_error_is_not_repeated() -> None:
    """It may hold what it was given in confidence."""
    script = Script()
    script.answers["tools/list"] = failing(RpcError(-32000, "bad key: canary", {"key": "canary"}))
    async with flock({"a": script}) as kept:
        assert "canary" not in (await kept.stands("error", "a")).error


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "resources/templates/list"])
async def test_one_that_is_not_ready_in_time_is_given_up(method: str) -> None:
    script = Script("modern")
    script.hooks.append(on(method, never))
    async with flock({"a": script}, connect_seconds=0.05) as kept:
        condition = await kept.stands("error", "a")
        assert condition.error == "it was not ready within 0.05 seconds"
        assert kept.listings("a") == []
        assert kept.wires.open == {}


async def test_that_holds_for_reaching_it_too() -> None:
    @asynccontextmanager
    async def nowhere(_: Declared, __: Switchboard) -> AsyncIterator[Conversation]:
        await anyio.sleep_forever()
        yield  # type: ignore[misc]

    async with flock(nowhere, plain("a"), connect_seconds=0.05) as kept:
        assert (await kept.stands("error", "a")).error == "it was not ready within 0.05 seconds"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_one_that_gives_no_sign_of_life_is_connected_to_anew(era: str) -> None:
    script = Script(era)
    async with flock({"a": script}, health_seconds=30, health_timeout=0.5) as kept:
        await kept.ready("a")
        await kept.clock.advance(30)
        await kept.clock.advance(30)
        asked = "ping" if era == "legacy" else "server/discover"
        assert len(script.called(asked)) == (2 if era == "legacy" else 3)
        assert kept.stood("a") == ["connecting", "ready"], "it answered"
        script.hooks.append(on(asked, once(never)))
        await kept.clock.advance(30)
        assert (await kept.stands("error", "a")).error == "it gave no sign of life within 0.5 seconds"
        await kept.clock.advance(1)
        await kept.ready("a")


@pytest.mark.parametrize("code", [METHOD_NOT_FOUND, -32603, 401, 503])
async def test_an_error_is_a_sign_of_life(code: int) -> None:
    script = Script("legacy")
    script.answers["ping"] = failing(RpcError(code, "no", {"status": 503} if code == 503 else None))
    async with flock({"a": script}, health_seconds=30) as kept:
        await kept.ready("a")
        await kept.clock.advance(300)
        assert len(script.called("ping")) == 10
        assert kept.stood("a") == ["connecting", "ready"]


@pytest.mark.parametrize(("status", "state"), [(401, "authenticating"), (502, "error"), (503, "error"), (504, "error")])
async def test_what_stands_before_a_server_gives_no_sign_of_life_for_it(status: int, state: str) -> None:
    script = Script("legacy")
    said = RpcError(-32603, f"the server answered with HTTP status {status}", {"status": status})
    script.answers["ping"] = failing(said)
    async with flock({"a": script}, health_seconds=30) as kept:
        await kept.ready("a")
        await kept.clock.advance(30)
        assert (await kept.stands(state, "a")).error == f"the server answered with HTTP status {status}"


async def test_one_that_works_is_not_asked_for_a_sign_of_life() -> None:
    script = Script("legacy")
    script.hooks.append(on("ping", never))
    async with flock({"a": script}, health_seconds=30, health_timeout=0.5) as kept, anyio.create_task_group() as tasks:
        await kept.ready("a")
        tasks.start_soon(kept.call, "a", "slow")
        await script.until(lambda: script.held)
        await kept.clock.advance(300)
        assert script.called("ping") == []
        script.go()
        await kept.until_idle("a")
        await kept.clock.advance(30)
        await kept.stands("error", "a")
        assert len(script.called("ping")) == 1


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
        assert kept.stood("a") == ["connecting", "ready"], "it stayed ready all the time"


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
        assert kept.stood("a") == ["connecting", "ready"]


@pytest.mark.parametrize(("code", "asked"), [(METHOD_NOT_FOUND, 1), (-32000, 5)])
async def test_one_that_refuses_to_tell_works_all_the_same(code: int, asked: int) -> None:
    script = Script("modern")
    script.answers["subscriptions/listen"] = failing(RpcError(code, "no"))
    async with flock({"a": script}, health_seconds=3600) as kept:
        await kept.ready("a")
        await kept.clock.advance(8)
        assert len(script.called("subscriptions/listen")) == asked
        assert await kept.call("a")
        assert kept.stood("a") == ["connecting", "ready"]


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
    async with flock({"a": script}, connect_seconds=60 if how != "never" else 0.5) as kept:
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
        assert kept.condition("a").error.startswith("what it offers could not be listed again: ")
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


async def test_what_goes_wrong_in_our_own_code_ends_one_connection_and_nothing_else() -> None:
    scripts: dict[str, Script | BaseException] = {"bad": ZeroDivisionError("canary"), "good": Script()}
    async with flock(scripts) as kept:
        condition = await kept.stands("error", "bad")
        assert condition.error == "mcpguard failed at this server (ZeroDivisionError); its log says how"
        await kept.ready("good")
        assert await kept.call("good")
        kept.wires.scripts["bad"] = Script()
        await kept.clock.advance(0.5)
        await kept.ready("bad")


async def test_one_that_ends_when_asked_in_the_modern_way_is_asked_for_the_handshake_next_time() -> None:
    script = Script("legacy")
    async with flock({"a": script}) as kept:
        script.hooks.append(on("server/discover", hanging_up(kept)))
        assert (await kept.stands("error", "a")).error == "the server hung up"
        await kept.clock.advance(0.5)
        assert (await kept.ready("a")).protocol == "2025-11-25"
        await kept.wires.open["a"].cut()
        await kept.stands("error", "a")
        await kept.clock.advance(1)
        await kept.ready("a")
        assert len(script.called("server/discover")) == 1, "it is remembered"


async def test_one_that_ends_at_the_handshake_too_is_asked_in_both_ways_by_turns() -> None:
    script = Script("legacy")
    async with flock({"a": script}) as kept:
        script.hooks.append(on("server/discover", hanging_up(kept)))
        script.hooks.append(on("initialize", hanging_up(kept)))
        assert await pauses(kept, "a", 4) == [0.5, 1, 2, 4]
        await kept.stands("error", "a")
        asked = [message["method"] for message in script.calls]
        assert asked == ["server/discover", "initialize", "server/discover", "initialize", "server/discover"]


async def test_a_server_that_ends_while_it_is_called_leaves_nobody_waiting() -> None:
    script = Script()
    ended: list[BaseException] = []

    async def call(kept: Flock) -> None:
        try:
            await kept.call("a", "slow")
        except TransportEnded as error:
            ended.append(error)

    async with flock({"a": script}) as kept, anyio.create_task_group() as tasks:
        await kept.ready("a")
        for _ in range(5):
            tasks.start_soon(call, kept)
        await script.until(lambda: script.held == 5)
        await kept.wires.open["a"].cut()
        await kept.stands("error", "a")
        with anyio.fail_after(PATIENCE):
            await kept.until_idle("a")
        assert [str(each) for each in ended] == ["the server hung up"] * 5


# What servers do.


def failing(error: RpcError) -> Callable[[Asked], Json]:
    def answer(_: Asked) -> Json:
        raise error

    return answer


def holding(*numbers: int) -> Hook:
    """Keeps these answers, counted from 1; each is what it was when it was asked for."""
    counted = itertools.count(1)

    async def hook(asked: Asked, go_on: Next) -> Reply:
        number, reply = next(counted), await go_on()
        if number in numbers:
            await asked.script.hold()
        return reply

    return hook


def hanging_up(kept: Flock) -> Hook:
    async def hook(_: Asked, __: Next) -> Reply:
        await kept.wires.open["a"].cut()
        return None

    return hook
