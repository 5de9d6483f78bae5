"""A subscription that is not allowed, or comes to nothing, says so, and nothing has happened."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from mcpguard.codec.envelope import BY_SERVER
from mcpguard.codec.uris import wrap_uri
from mcpguard.domain.capabilities import Effect
from tests.gate import Gate
from tests.gateway.hearing import FIRST, WRAPPED, Ear, asked, hearing, insist, subscribed, until
from tests.gateway.speaking import HOWS, TOKEN, callers, guarded, scope, turned_away
from tests.simulators.asked import Asked, Reply
from tests.simulators.hostile import never, on
from tests.simulators.script import Next, Script
from tests.simulators.words import RpcError
from tests.upstreams.conduct import failing, holding

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
EVERY_HOW = pytest.mark.parametrize("how", HOWS)
SECOND = "note://2/text"


@contextmanager
def refused(guard: Gate, script: Script, reason: str) -> Iterator[None]:
    """In the block the server is asked for nothing, and one entry says why."""
    before, entries = asked(script), len(guard.entries())
    yield
    assert asked(script) == before
    (entry,) = guard.entries()[entries:]
    said = {key: entry[key] for key in ("method", "outcome", "executed", "reason")}
    assert said == {"method": "resources/subscribe", "outcome": "refused", "executed": "no", "reason": reason}


@asynccontextmanager
async def refusing(guard: Gate, how: str, uri: str, reason: str = "", token: str | None = None) -> AsyncIterator[Ear]:
    """A client that was refused this and nothing else, in the way of its era."""
    async with hearing(guard, how, uri, token=token) as ear:
        assert ear.agreed == []
        if "legacy" in how:
            (error,) = ear.errors
            assert error["code"] == (-32002 if reason == "capability:unknown" else -31010)
            assert error["data"]["reason"] == reason
        yield ear


@EVERY_HOW
async def test_a_resource_that_there_is_not(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        for uri in ("x:nothing", wrap_uri("web", "x:nothing"), wrap_uri("nobody", FIRST), "note://2/../first"):
            with refused(guard, script, "capability:unknown"):
                async with refusing(guard, how, uri, "capability:unknown"):
                    pass


@pytest.mark.parametrize(
    ("reach", "reason"),
    [
        (scope("other"), "capability:unknown"),
        (scope("web", "note://2*"), "capability:unknown"),
        (scope("web", "*", Effect.WRITE), "scope:effect"),
    ],
)
@EVERY_HOW
async def test_a_resource_out_of_scope_is_not_heard_of_even_if_others_are_subscribed(
    how: str, reach: object, reason: str, tmp_path: Path
) -> None:
    script = Script()
    async with (
        guarded(tmp_path, script, callers=callers(**{TOKEN: reach})) as guard,  # type: ignore[arg-type]
        hearing(guard, "http modern", FIRST) as allowed,
    ):
        with refused(guard, script, reason):
            async with refusing(guard, how, WRAPPED, reason, TOKEN) as ear:
                await script.updated(FIRST)
                await allowed.until()
                assert ear.heard == []


@EVERY_HOW
async def test_what_is_no_uri_of_ours_is_no_call(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        for uri in ("proxy://resource/nonsense", "x:" + "y" * 8200):
            async with hearing(guard, how, uri) as ear:
                assert ear.agreed == []
                assert [error["code"] for error in ear.errors] == ([-32602] if "legacy" in how else [])
        assert asked(script) == 0
        assert guard.entries() == []
        door = "network" if "http" in how else "streams"
        assert (await turned_away(guard))[door, "parameters"] == 2


@ERAS
@EVERY_HOW
async def test_a_server_that_refuses_is_heard(how: str, era: str, tmp_path: Path) -> None:
    script = Script(era)
    error = RpcError(-32002, "not this one", {"uri": FIRST})
    async with guarded(tmp_path, script) as guard:
        script.answers[f"resources/subscribe {FIRST}"] = failing(error)
        script.answers["subscriptions/listen"] = failing(error)
        async with hearing(guard, how, FIRST) as ear:
            assert ear.agreed == []
            passed = error.error | {"data": {"uri": FIRST, "_meta": BY_SERVER}}
            assert ear.errors == ([passed] if "legacy" in how else [])
            (entry,) = guard.entries()
            assert entry["outcome"] == "failed"
            await insist(script, FIRST)
            await ear.client.request("tools/list")
            assert ear.heard == []


@EVERY_HOW
async def test_what_a_modern_server_does_not_acknowledge_is_refused(how: str, tmp_path: Path) -> None:
    script = Script("modern")

    async def forgetful(asked: Asked, go_on: Next) -> Reply:
        wanted = asked.params["notifications"]
        wanted["resourceSubscriptions"] = [uri for uri in wanted.get("resourceSubscriptions", []) if uri != FIRST]
        return await go_on()

    script.hooks.append(on("subscriptions/listen", forgetful))
    async with guarded(tmp_path, script) as guard, hearing(guard, how, FIRST, SECOND) as ear:
        assert ear.agreed == [SECOND]
        assert sorted(each["outcome"] for each in guard.entries()) == ["answered", "failed"]
        await script.updated(SECOND)
        assert await ear.until() == [SECOND]


@pytest.mark.parametrize("offered", [None, {}, {"subscribe": False}, {"subscribe": "yes"}, {"listChanged": True}])
@EVERY_HOW
async def test_a_server_that_does_not_offer_it_is_not_asked(how: str, offered: object, tmp_path: Path) -> None:
    script = Script()
    script.capabilities["resources"] = offered
    async with guarded(tmp_path, script) as guard, hearing(guard, how, FIRST) as ear:
        assert ear.agreed == []
        assert [error["code"] for error in ear.errors] == ([-32601] if "legacy" in how else [])
        assert asked(script) == 0
        (entry,) = guard.entries()
        assert entry["outcome"] == "failed"


@ERAS
async def test_a_server_that_does_not_answer_is_not_waited_for_for_ever(era: str, tmp_path: Path) -> None:
    script = Script(era)
    async with guarded(tmp_path, script, upstreams__health_timeout=0.1) as guard:
        script.hooks += [on("resources/subscribe", never), on("subscriptions/listen", never)]
        async with refusing(guard, "http legacy", FIRST, "reply:timeout") as ear:
            (entry,) = guard.entries()
            assert (entry["outcome"], entry["executed"]) == ("unknown", "unknown")
            assert (await ear.client.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}


@EVERY_HOW
async def test_there_is_an_end_to_what_one_client_may_have(how: str, tmp_path: Path) -> None:
    script = Script()
    uris = [f"note://{number}/text" for number in range(4)]
    async with guarded(tmp_path, script, limits__subscriptions=2) as guard, hearing(guard, how, *uris) as ear:
        assert ear.agreed == uris[:2]
        assert len(guard.entries()) == 2
        assert subscribed(script) == {*uris[:2]}
        assert [error["code"] for error in ear.errors] == ([-31010] * 2 if "legacy" in how else [])
        away = await turned_away(guard)
        door = "network" if "http" in how else "streams"
        assert away[door, "too many subscriptions"] == (2 if "legacy" in how else 1)
        if "legacy" in how:
            await ear.subscribe(uris[0])
            await ear.unsubscribe(uris[0])
            await ear.subscribe(uris[3])
            assert ear.agreed == [*uris[:2], uris[0], uris[3]]
        async with hearing(guard, how, *uris[2:]) as other:
            assert other.agreed == uris[2:], "it is for each client"


async def test_a_subscription_holds_a_place_at_the_server_only_while_it_is_asked_for(tmp_path: Path) -> None:
    script = Script("legacy")
    async with (
        guarded(tmp_path, script, upstreams__concurrency=1, upstreams__queue=0) as guard,
        hearing(guard, "http legacy", FIRST, SECOND) as ear,
    ):
        assert ear.agreed == [FIRST, SECOND]
        assert (await ear.client.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}
        await script.updated(SECOND)
        assert await ear.until() == [SECOND]


async def test_what_is_given_back_while_it_is_asked_for_does_not_come_to_be(tmp_path: Path) -> None:
    script = Script("legacy")

    async with guarded(tmp_path, script) as guard, guard.stream(modern=False) as client:
        await client.initialize()
        script.hooks.append(on("resources/subscribe", holding(1)))
        message = {"jsonrpc": "2.0", "id": "early", "method": "resources/subscribe", "params": {"uri": FIRST}}
        await client.send(message)
        await script.until(lambda: script.held)
        await client.request("resources/unsubscribe", {"uri": FIRST})
        script.go()
        await script.received("resources/unsubscribe")
        await until(lambda: not subscribed(script))
        await until(lambda: client.stray)
        assert client.stray == [{"jsonrpc": "2.0", "id": "early", "result": {}}]
        await insist(script, FIRST)
        await client.request("ping")
        assert client.heard == []
