"""A server is asked once for each resource that somebody wants to hear of, over all its connections."""

from typing import Any

import anyio
import pytest

from mcpguard.upstreams.exchange.conversation import DENIED, METHOD_NOT_FOUND, ServerError
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.supervise.watching.single_subscriptions import AT_ONCE
from mcpguard.upstreams.supervise.watching.watching import LONGEST_URI, MOST, Watching
from tests.patience import PATIENCE
from tests.upstreams.flock import settled
from tests.upstreams.watched import REFUSED, Holder, Kept, kept

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("modern", [False, True])


async def held(watched: Kept, uri: str) -> Holder:
    holder = Holder(watched.watching, uri)
    await holder.begin()
    return holder


@ERAS
async def test_two_who_want_the_same_ask_once_and_the_last_one_takes_it_back(modern: bool) -> None:
    async with kept(modern=modern) as (watched, _):
        one, other = await held(watched, "a"), await held(watched, "a")
        assert (one.holds, other.holds) == (True, True)
        assert watched.server.asked == ["listen a" if modern else "subscribe a"]
        one.give_up()
        await settled()
        assert watched.server.tells == {"a"}
        watched.watching.drop("a", one)
        watched.watching.drop("b", one)
        await settled()
        assert watched.server.tells == {"a"}, "who wants nothing gives nothing back"
        other.give_up()
        await settled()
        assert watched.server.tells == set()
        assert watched.server.asked == (["listen a"] if modern else ["subscribe a", "unsubscribe a"])


@ERAS
async def test_those_who_come_while_it_is_asked_wait_for_the_same_answer(modern: bool) -> None:
    async with kept(modern=modern) as (watched, tasks):
        watched.server.hold()
        watched.server.refused.add("b")
        crowd = [Holder(watched.watching, uri) for uri in "aabb"]
        for holder in crowd:
            tasks.start_soon(holder.begin)
        await settled()
        assert [(holder.holds, holder.error) for holder in crowd] == [(False, None)] * 4
        watched.server.go()
        await settled()
        assert [holder.holds for holder in crowd] == [True, True, False, False]
        assert all(isinstance(holder.error, ServerError) for holder in crowd[2:])
        if not modern:
            assert watched.server.asked == ["subscribe a", "subscribe b"]
        assert watched.server.tells == {"a"}


@ERAS
async def test_who_is_cancelled_while_waiting_leaves_nothing_behind(modern: bool) -> None:
    async with kept(modern=modern) as (watched, tasks):
        watched.server.hold()
        holder = Holder(watched.watching, "a")
        tasks.start_soon(holder.begin)
        await settled()
        holder.give_up()
        await settled()
        watched.server.go()
        await settled()
        assert watched.server.tells == set()
        assert len(watched.watching._wishes) == 0


@ERAS
async def test_a_server_that_does_not_answer_is_not_waited_for(modern: bool) -> None:
    async with kept(modern=modern, seconds=0.05) as (watched, _):
        watched.server.hold()
        holder = await held(watched, "a")
        assert isinstance(holder.error, TimeoutError)
        assert len(watched.watching._wishes) == 0
        watched.server.go()
        await settled()
        assert watched.server.tells == set()


@ERAS
async def test_a_server_that_does_not_offer_it_is_not_asked(modern: bool) -> None:
    async with kept(modern=modern) as (watched, tasks):
        await watched.lose()
        await watched.connect(tasks, subscribes=False)
        holder = await held(watched, "a")
        assert isinstance(holder.error, ServerError)
        assert holder.error.error["code"] == METHOD_NOT_FOUND
        await settled()
        assert watched.server.asked == []


@ERAS
async def test_without_a_connection_there_is_nobody_to_ask(modern: bool) -> None:
    async with kept(modern=modern) as (watched, tasks):
        watched.server.hold()
        waiting = Holder(watched.watching, "a")
        tasks.start_soon(waiting.begin)
        await settled()
        await watched.lose()
        assert isinstance(waiting.error, TransportEnded)
        assert isinstance((await held(watched, "a")).error, TransportEnded)
        assert len(watched.watching._wishes) == 0


@ERAS
async def test_on_a_new_connection_everything_is_asked_for_again_and_then_told(modern: bool) -> None:
    async with kept(modern=modern) as (watched, tasks):
        held_before = [await held(watched, uri) for uri in "abc"]
        held_before.pop().give_up()
        await watched.lose()
        assert watched.told == []
        server = await watched.connect(tasks)
        assert server.tells == {"a", "b"}
        assert sorted(watched.told) == ["a", "b"]
        await held(watched, "d")
        assert sorted(watched.told) == ["a", "b"], "of what is new nobody can have missed anything"


@ERAS
async def test_what_is_refused_on_a_new_connection_is_asked_for_again_after_a_pause(modern: bool) -> None:
    async with kept(modern=modern) as (watched, tasks):
        await held(watched, "a")
        watched.server.refused.add("a")
        await watched.lose()
        server = await watched.connect(tasks)
        assert len(server.asked) == 1
        await watched.clock.advance(0.25)
        assert len(server.asked) == 1
        await watched.clock.advance(0.25)
        assert len(server.asked) == 2
        await watched.clock.advance(0.75)
        assert len(server.asked) == 2, "the pause grows"
        server.refused.clear()
        assert watched.told == []
        await watched.clock.advance(0.25)
        assert server.tells == {"a"}
        assert watched.told == ["a"]


async def test_a_subscription_that_breaks_off_is_made_again_and_then_told() -> None:
    async with kept(modern=True) as (watched, _):
        await held(watched, "a")
        await held(watched, "b")
        assert watched.server.asked == ["listen a", "listen a b"]
        watched.server.break_listens()
        await settled()
        assert watched.server.tells == set()
        await watched.clock.advance(0.5)
        assert watched.server.tells == {"a", "b"}
        assert watched.server.asked[2:] == ["listen a b"]
        assert sorted(watched.told) == ["a", "b"]


async def test_something_else_is_asked_for_before_the_old_is_taken_back() -> None:
    async with kept(modern=True) as (watched, tasks):
        await held(watched, "a")
        watched.server.hold()
        tasks.start_soon(Holder(watched.watching, "b").begin)
        await settled()
        assert watched.server.listens == [{"a"}]
        watched.server.go()
        await settled()
        assert watched.server.listens == [{"a", "b"}]
        assert watched.server.gaps == []


async def test_one_resource_for_which_everything_is_refused_does_not_spoil_the_others() -> None:
    async with kept(modern=True) as (watched, tasks):
        watched.server.whole = True
        await held(watched, "a")
        watched.server.refused.add("b")
        crowd = [Holder(watched.watching, uri) for uri in "bcd"]
        for holder in crowd:
            tasks.start_soon(holder.begin)
        await settled()
        assert [holder.holds for holder in crowd] == [False, True, True]
        assert isinstance(crowd[0].error, ServerError)
        assert crowd[0].error.error == REFUSED, "it is the server's own error"
        assert watched.server.listens == [{"a", "c", "d"}]
        watched.server.refused.add("a")  # which it agreed to before
        assert (await held(watched, "e")).holds
        assert watched.server.listens == [{"c", "d", "e"}]


async def test_a_slow_server_gets_a_few_requests_at_once() -> None:
    async with kept(modern=False) as (watched, tasks):
        watched.server.hold()
        for number in range(3 * AT_ONCE):
            tasks.start_soon(Holder(watched.watching, str(number)).begin)
        await settled()
        assert len(watched.server.asked) == AT_ONCE
        watched.server.go()
        await settled()
        assert len(watched.server.tells) == 3 * AT_ONCE


@ERAS
async def test_there_is_an_end_to_what_is_watched_of_one_server(modern: bool) -> None:
    async with kept(modern=modern) as (watched, tasks):
        crowd = [Holder(watched.watching, str(number)) for number in range(MOST)]
        for holder in crowd:
            tasks.start_soon(holder.begin)
        while not all(holder.holds for holder in crowd):
            await settled()
        asked = len(watched.server.asked)
        beyond = await held(watched, "one more")
        assert isinstance(beyond.error, ServerError)
        assert beyond.error.error["code"] == DENIED
        assert (await held(watched, "0")).holds, "what is watched already costs nothing"
        assert len(watched.server.asked) == asked


def told_of(wanted: str, *updates: Any) -> list[str]:  # noqa: ANN401 - whatever a server may say
    """What goes up of these updates, where this resource is wanted."""
    watched = Kept(modern=False)
    watching: Watching = watched.watching
    watching._wishes.add(wanted, object())
    for update in updates:
        watching.take_update(update)
    return watched.told


async def test_what_is_wanted_goes_up_and_so_do_its_parts() -> None:
    parts = ["note://a/1", "note://a/1/x", "note://a/"]
    assert told_of("note://a", "note://a", *parts) == ["note://a", *parts]
    assert told_of("note://a/", "note://a/", "note://a/1") == ["note://a/", "note://a/1"]


async def test_nothing_else_goes_up() -> None:
    odd = [None, 1, True, [], {}, ["note://a"], {"uri": "note://a"}, "", "note://", "note://b", "NOTE://A", "note://ab"]
    assert told_of("note://a", *odd, "note://a/\ud800", "note://a/" + "x" * LONGEST_URI) == []
    assert told_of("note://a/", "note://a", "note://ab/c") == []


async def test_what_comes_too_fast_is_told_once_and_later() -> None:
    async with kept(modern=False) as (watched, _):
        await held(watched, "note://a")
        await held(watched, "note://b")
        for number in range(10_000):
            watched.watching.take_update(f"note://a/{number}")
        watched.watching.take_update("note://b")
        assert watched.told == [f"note://a/{number}" for number in range(100)]
        await watched.clock.advance(1)
        assert watched.told[100:] == ["note://a", "note://b"]
        watched.watching.take_update("note://b")
        assert watched.told[102:] == ["note://b"]
        await watched.clock.advance(10)
        assert len(watched.told) == 103


async def test_what_is_watched_ends_with_the_connection_and_hangs_nowhere() -> None:
    with anyio.fail_after(PATIENCE):
        async with kept(modern=False) as (watched, tasks):
            await held(watched, "a")
            watched.server.hold()
            tasks.start_soon(Holder(watched.watching, "b").begin)
            await settled()
