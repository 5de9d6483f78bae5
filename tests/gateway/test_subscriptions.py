"""A client hears that a resource has changed to which it has subscribed, in its own words; nobody else does."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from mcpguard.codec.uris import wrap_uri
from tests.gate import gate
from tests.gateway.hearing import FIRST, WRAPPED, asked, hearing, insist, nothing_subscribed, subscribed
from tests.gateway.speaking import HOWS, OTHER_TOKEN, TOKEN, callers, guarded, played, restarted, scope, two_callers
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
EVERY_HOW = pytest.mark.parametrize("how", HOWS)
SECOND = "note://2/text"


@pytest.mark.parametrize("over", ["http", "stdio"])
@ERAS
@EVERY_HOW
async def test_from_subscribing_to_silence(how: str, era: str, over: str, tmp_path: Path) -> None:
    script = Script(era)
    async with guarded(tmp_path, script, over=over) as guard:
        async with hearing(guard, how, WRAPPED) as ear:
            assert ear.agreed == [WRAPPED]
            assert subscribed(script) == {FIRST}
            await script.updated(FIRST)
            assert await ear.until() == [WRAPPED]
            await script.updated(FIRST)
            assert await ear.until(2) == [WRAPPED] * 2
            assert ear.ids == {{"http modern": 1, "stream modern": "ours"}.get(how)}
        await nothing_subscribed(script)
        async with hearing(guard, how, wrap_uri("web", SECOND)) as ear:
            assert subscribed(script) == {SECOND}
            await insist(script, FIRST)
            await script.updated(SECOND)
            assert await ear.until() == [wrap_uri("web", SECOND)], "of the first it hears no more"
        entries = guard.entries()
        assert [(each["method"], each["name"], each["outcome"]) for each in entries] == [
            ("resources/subscribe", FIRST, "answered"),
            ("resources/subscribe", SECOND, "answered"),
        ]
        assert {each["effect"] for each in entries} == {"read"}


@EVERY_HOW
async def test_a_client_is_told_in_its_own_words(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        async with hearing(guard, how, FIRST) as ear:
            await script.updated(FIRST)
            assert await ear.until() == [FIRST]
        async with hearing(guard, how, FIRST, only="web") as ear:
            await script.updated(FIRST)
            assert await ear.until() == [FIRST]
        async with hearing(guard, how, FIRST, WRAPPED, FIRST) as ear:
            await script.updated(FIRST)
            assert sorted(await ear.until(2)) == sorted([FIRST, WRAPPED])


@EVERY_HOW
async def test_of_a_part_it_is_told_as_its_face_shows_it(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        async with hearing(guard, how, FIRST) as ear:
            await insist(script, FIRST + "/part")
            await insist(script, FIRST + "ly")
            await insist(script, FIRST)
            assert await ear.until(2) == [wrap_uri("web", FIRST + "/part"), FIRST]
        async with hearing(guard, how, FIRST, only="web") as ear:
            await insist(script, FIRST + "/part")
            assert await ear.until() == [FIRST + "/part"]


async def test_of_a_part_that_is_out_of_its_scope_it_hears_nothing(tmp_path: Path) -> None:
    script = Script()
    narrow = callers(**{TOKEN: scope("web", "note://first,note://first/open*")})
    async with (
        guarded(tmp_path, script, callers=narrow) as guard,
        hearing(guard, "http legacy", FIRST, only="web", token=TOKEN) as ear,
    ):
        await insist(script, FIRST + "/secret")
        await insist(script, FIRST + "/open")
        assert await ear.until() == [FIRST + "/open"]


@ERAS
async def test_two_clients_ask_the_server_once_and_one_that_leaves_takes_nothing_from_the_other(
    era: str, tmp_path: Path
) -> None:
    script = Script(era)
    async with guarded(tmp_path, script) as guard:
        async with hearing(guard, "http modern", FIRST) as one:
            async with hearing(guard, "stream legacy", WRAPPED) as other:
                assert asked(script) == 1
                await script.updated(FIRST)
                assert (await one.until(), await other.until()) == ([FIRST], [WRAPPED])
            await script.updated(FIRST)
            assert await one.until(2) == [FIRST] * 2
            assert other.heard == [WRAPPED]
            assert subscribed(script) == {FIRST}
        await nothing_subscribed(script)
        assert len(guard.entries()) == 2


async def test_subscribing_twice_is_being_subscribed_once(tmp_path: Path) -> None:
    script = Script("legacy")
    async with guarded(tmp_path, script) as guard, hearing(guard, "stream legacy", FIRST, FIRST) as ear:
        await script.updated(FIRST)
        await script.updated(FIRST)
        assert await ear.until(2) == [FIRST] * 2
        await ear.unsubscribe(FIRST)
        await nothing_subscribed(script)
        await ear.unsubscribe(FIRST)
        await ear.unsubscribe("x:never")
        await ear.unsubscribe("proxy://resource/nonsense")
        await insist(script, FIRST)
        await ear.client.request("ping")
        assert len(ear.heard) == 2
        assert len(script.called("resources/unsubscribe")) == 1


async def test_nobody_hears_what_somebody_else_has_subscribed_to(tmp_path: Path) -> None:
    """Not another session of the same caller, not another caller, not another face, not another server's resource."""
    web, other = Script("legacy"), Script("legacy")
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(played(tmp_path, script, name))
            for name, script in {"web": web, "other": other}.items()
        ]
        guard = await stack.enter_async_context(gate(tmp_path, *servers, callers=two_callers()))
        await guard.ready("web", "other")
        silent = [
            await stack.enter_async_context(hearing(guard, "http legacy", token=TOKEN)),
            await stack.enter_async_context(hearing(guard, "http legacy", token=OTHER_TOKEN)),
            await stack.enter_async_context(hearing(guard, "http legacy", only="web", token=TOKEN)),
            await stack.enter_async_context(hearing(guard, "stream legacy", token=TOKEN)),
            await stack.enter_async_context(hearing(guard, "http legacy", wrap_uri("other", FIRST), token=TOKEN)),
            await stack.enter_async_context(hearing(guard, "http modern", wrap_uri("other", FIRST), token=TOKEN)),
        ]
        ear = await stack.enter_async_context(hearing(guard, "http legacy", WRAPPED, token=TOKEN))
        for _ in range(3):
            await web.updated(FIRST)
        assert await ear.until(3) == [WRAPPED] * 3
        await other.updated(FIRST)
        assert await silent[-1].until() == [wrap_uri("other", FIRST)]
        assert await silent[-2].until() == [wrap_uri("other", FIRST)]
        assert [each.heard for each in silent[:4]] == [[]] * 4
        assert ear.heard == [WRAPPED] * 3


@ERAS
@pytest.mark.parametrize("over", ["http", "stdio"])
async def test_what_nobody_subscribed_to_reaches_nobody(over: str, era: str, tmp_path: Path) -> None:
    script = Script(era)
    async with (
        guarded(tmp_path, script, over=over) as guard,
        hearing(guard, "http modern", SECOND) as one,
        hearing(guard, "stream legacy", SECOND) as two,
    ):
        for uri in (FIRST, "", None, 5, [SECOND], {"uri": SECOND}, SECOND + "/\ud800", SECOND + "/" + "x" * 10_000):
            await insist(script, uri)
        for _ in range(1000):
            await insist(script, "note://nobody")
        await script.updated(SECOND)
        assert await one.until() == await two.until() == [SECOND]


@ERAS
@EVERY_HOW
async def test_after_a_new_connection_everything_is_asked_for_again_and_told(
    how: str, era: str, tmp_path: Path
) -> None:
    script = Script(era)
    async with guarded(tmp_path, script) as guard:
        async with hearing(guard, how, FIRST) as ear:
            await restarted(guard, "web")
            assert await ear.until() == [FIRST], "it may have changed meanwhile"
            assert subscribed(script) == {FIRST}
            assert asked(script) == 2
            await script.updated(FIRST)
            assert await ear.until(2) == [FIRST] * 2
        await nothing_subscribed(script)
        assert len(guard.entries()) == 1


async def test_a_server_that_ends_what_it_agreed_to_is_asked_again(tmp_path: Path) -> None:
    script = Script("modern")
    async with guarded(tmp_path, script) as guard, hearing(guard, "http modern", FIRST) as ear:
        script.close_listens()
        while not ear.heard:
            await guard.clock.advance(1)
        assert ear.heard == [FIRST]
        assert asked(script) == 2
        await script.updated(FIRST)
        await ear.until(2)
