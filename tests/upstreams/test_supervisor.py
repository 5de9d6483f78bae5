"""One upstream is kept connected: through every state, with pauses that nothing shortens.

Servers are scripts that are reached by hand. Time is the test's: what happens later happens when the clock is moved.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from mcpguard.domain.servers.connections import Condition
from mcpguard.domain.servers.launches import DeclaredServer, Era
from mcpguard.upstreams.exchange.conversation import Conversation, ServerError
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.switchboard import Switchboard
from mcpguard.upstreams.supervise.fleet import Unreachable
from tests.patience import PATIENCE
from tests.simulators.asked import Asked, Reply
from tests.simulators.hostile import never, on, once
from tests.simulators.script import Hook, Next, Script
from tests.simulators.words import MODERN, UNSUPPORTED_VERSION, RpcError
from tests.upstreams.conduct import failing, refusing
from tests.upstreams.flock import Flock, flock, plain

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


async def test_it_goes_from_starting_to_ready() -> None:
    script = Script()
    async with flock({"a": script}) as kept:
        condition = await kept.ready("a")
        assert kept.stood("a") == ["starting", "ready"]
        assert condition == Condition(
            condition.state, condition.since, error="", next_try=None, protocol="2026-07-28", server="simulated 1.0"
        )
        assert [tool["name"] for tool in kept.listings("a")[-1].tools] == [tool["name"] for tool in script.tools]
    assert kept.stood("a") == ["starting", "ready", "disconnected"]
    assert kept.removed("a")


async def test_no_call_reaches_it_before_it_is_ready() -> None:
    script = Script()
    script.hooks.append(on("prompts/list", never))
    async with flock({"a": script}) as kept:
        await script.received("prompts/list")
        with pytest.raises(Unreachable):
            await kept.call("a")
        assert kept.state("a") == "starting"
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
        assert kept.stood("a") == ["starting", "ready", "error", "connecting", "ready"]


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


async def test_only_a_person_who_starts_it_again_does_without_the_pause() -> None:
    """What a call, a client or a configuration can cause waits; this leaves a record and names somebody."""
    async with flock({"a": GONE}, retry_seconds=8) as kept:
        await kept.stands("error", "a")
        kept.fleet.start_again("a")
        assert kept.fleet.is_starting("a"), "calls wait for it"
        await kept.until(lambda: kept.wires.reached == ["a", "a"])
        await kept.stands("error", "a")
        kept.fleet.want([])
        await kept.until(lambda: kept.removed("a"))
        kept.fleet.start_again("a")
        kept.fleet.start_again("unknown")
        await kept.clock.advance(60)
    assert kept.wires.reached == ["a", "a"], "what nobody wants is not started"


async def test_a_restart_is_followed_by_a_pause_that_grows_too() -> None:
    async with flock({"a": Script()}, retry_seconds=1, retry_most_seconds=60) as kept:
        for pause in (0.5, 1, 2, 4):
            await kept.ready("a")
            assert kept.fleet.restart("a")
            condition = await kept.stands("error", "a")
            assert condition.error == "the server is being restarted"
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
        assert condition.error.startswith(
            "the server answered with HTTP status 401: it requires credentials; add a header"
        )
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
        assert condition.error == "the server was not ready within 0.05 seconds"
        assert kept.listings("a") == []
        assert kept.wires.open == {}


async def test_that_holds_for_reaching_it_too() -> None:
    @asynccontextmanager
    async def nowhere(_: DeclaredServer, __: Switchboard) -> AsyncIterator[Conversation]:
        await anyio.sleep_forever()
        yield  # type: ignore[misc]

    async with flock(nowhere, plain("a"), connect_seconds=0.05) as kept:
        assert (await kept.stands("error", "a")).error == "the server was not ready within 0.05 seconds"


async def test_what_goes_wrong_in_our_own_code_ends_one_connection_and_nothing_else() -> None:
    scripts: dict[str, Script | BaseException] = {"bad": ZeroDivisionError("canary"), "good": Script()}
    async with flock(scripts) as kept:
        condition = await kept.stands("error", "bad")
        assert condition.error == "internal error in mcpguard (ZeroDivisionError); see its log"
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


async def test_one_that_ends_when_asked_in_a_revision_that_it_named_is_not_asked_for_the_handshake() -> None:
    script = Script()
    async with flock({"a": script}) as kept:
        script.hooks.append(on("server/discover", once(refusing(UNSUPPORTED_VERSION, {"supported": [MODERN]}))))
        script.hooks.append(on("server/discover", once(hanging_up(kept))))
        assert (await kept.stands("error", "a")).error == "the server hung up"
        await kept.clock.advance(0.5)
        assert (await kept.ready("a")).protocol == MODERN
        assert script.called("initialize") == []


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


def hanging_up(kept: Flock) -> Hook:
    async def hook(_: Asked, __: Next) -> Reply:
        await kept.wires.open["a"].cut()
        return None

    return hook
