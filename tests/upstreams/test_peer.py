"""A conversation with a server that the test plays, message by message."""

import anyio
import pytest
from anyio import wait_all_tasks_blocked
from anyio.lowlevel import checkpoint

from mcpguard.upstreams.exchange.attribution import MOST_CANCELLED
from mcpguard.upstreams.exchange.conversation import INTERNAL_ERROR, METHOD_NOT_FOUND, Bounds, ServerError
from mcpguard.upstreams.exchange.endings import Unsayable
from tests.upstreams.conversing import conversing

pytestmark = pytest.mark.anyio


async def test_answers_reach_those_who_asked_in_whatever_order_they_come() -> None:
    async with conversing() as (talk, tasks):
        for name in "abc":
            tasks.start_soon(talk.ask, name)
            await wait_all_tasks_blocked()
        assert [said["method"] for said in talk.server.heard] == ["a", "b", "c"]
        for said in reversed(talk.server.heard.copy()):
            await talk.server.say(id=said["id"], result={"to": said["method"], "null": None})
        assert talk.outcomes == [{"to": name, "null": None} for name in "cba"]


async def test_an_error_of_the_server_is_kept_as_it_is() -> None:
    async with conversing() as (talk, tasks):
        tasks.start_soon(talk.ask, "a")
        await wait_all_tasks_blocked()
        error = {"code": -32000, "message": "no", "data": {"odd": None}, "more": 1}
        await talk.server.say(id=talk.server.heard[0]["id"], error=error)
        (outcome,) = talk.outcomes
        assert isinstance(outcome, ServerError)
        assert outcome.error == error


async def test_the_end_of_the_stream_ends_every_request_and_all_that_come_after() -> None:
    async with conversing() as (talk, tasks):
        for name in "abc":
            tasks.start_soon(talk.ask, name)
        await wait_all_tasks_blocked()
        await talk.server.hang_up()
        await wait_all_tasks_blocked()
        await talk.ask("later")
        assert [str(outcome) for outcome in talk.outcomes] == ["the server has ended"] * 4
        assert [said["method"] for said in talk.server.heard] == ["a", "b", "c"]


async def test_a_cancelled_request_is_taken_back_and_its_late_answer_reaches_nobody() -> None:
    async with conversing() as (talk, tasks):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as callers:
                callers.start_soon(talk.ask, "a")
                await wait_all_tasks_blocked()
                scope.cancel()
        asked, taken_back = talk.server.heard
        assert taken_back["method"] == "notifications/cancelled"
        assert taken_back["params"] == {"requestId": asked["id"]}
        tasks.start_soon(talk.ask, "b")
        await wait_all_tasks_blocked()
        await talk.server.say(id=asked["id"], result={"late": True})
        assert (talk.outcomes, talk.peer.counts.late) == ([], 1)
        await talk.server.say(id=talk.server.heard[-1]["id"], result={})
        assert talk.outcomes == [{}]


async def test_answers_to_what_nobody_asked_or_was_answered_already_are_dropped() -> None:
    async with conversing() as (talk, tasks):
        tasks.start_soon(talk.ask, "a")
        await wait_all_tasks_blocked()
        id_ = talk.server.heard[0]["id"]
        for odd in (99, str(id_), "x"):
            await talk.server.say(id=odd, result={"forged": True})
        await talk.server.say(id=id_, result={"first": True})
        await talk.server.say(id=id_, result={"second": True})
        assert talk.outcomes == [{"first": True}]
        assert talk.peer.counts.late == 4


async def test_what_is_no_message_is_passed_over_and_costs_nobody_else() -> None:
    async with conversing() as (talk, tasks):
        tasks.start_soon(talk.ask, "a")
        await wait_all_tasks_blocked()
        hostile = [
            b"Starting server...",
            b"[" * 5000,
            b'{"jsonrpc":"2.0","id":1,"result":NaN}',
            b'"\\ud800"',
            b"\xff\xfe",
        ]
        for line in hostile:
            await talk.server.say_raw(line)
        await talk.server.say(id=talk.server.heard[0]["id"], result={})
        assert talk.outcomes == [{}]
        assert talk.peer.counts.unreadable == len(hostile)


async def test_a_request_of_the_server_during_a_call_does_not_block_its_answer() -> None:
    async with conversing() as (talk, tasks):
        talk.answers = anyio.Event()
        tasks.start_soon(talk.ask, "a")
        await wait_all_tasks_blocked()
        await talk.server.say(id="s1", method="roots/list")
        await talk.server.say(id=talk.server.heard[0]["id"], result={})
        assert talk.outcomes == [{}]
        talk.answers.set()
        await wait_all_tasks_blocked()
        answer = {"asked": "roots/list", "with": None, "for": None}
        assert talk.server.heard[-1] == {"jsonrpc": "2.0", "id": "s1", "result": answer}


async def test_what_is_refused_is_answered_with_an_error() -> None:
    async with conversing() as (talk, _):
        await talk.server.say(id=7, method="unknown")
        error = {"code": METHOD_NOT_FOUND, "message": "no such method"}
        assert talk.server.heard == [{"jsonrpc": "2.0", "id": 7, "error": error}]


async def test_a_flood_of_requests_is_refused_beyond_the_bound() -> None:
    async with conversing(Bounds(requests=3)) as (talk, _):
        talk.answers = anyio.Event()
        await talk.server.flood(6, "sampling/createMessage")
        assert [said["id"] for said in talk.server.heard if "error" in said] == [3, 4, 5]
        talk.answers.set()
        await wait_all_tasks_blocked()
        assert sorted(said["id"] for said in talk.server.heard if "result" in said) == [0, 1, 2]


async def test_a_flood_of_requests_whose_refusals_are_not_read_is_dropped() -> None:
    async with conversing(Bounds(requests=3)) as (talk, _):
        talk.server.reads = anyio.Event()
        await talk.server.flood(50, "sampling/createMessage")
        assert talk.peer.counts.dropped == 44
        talk.server.reads.set()
        await wait_all_tasks_blocked()
        assert sorted(said["id"] for said in talk.server.heard) == [0, 1, 2, 3, 4, 5]


async def test_notifications_come_in_order_and_before_the_answer_that_follows_them() -> None:
    async with conversing() as (talk, tasks):
        tasks.start_soon(talk.ask, "a")
        await wait_all_tasks_blocked()
        for number in range(3):
            await talk.server.say(method="n", params={"number": number})
        assert [params for _, params, _ in talk.news] == [{"number": number} for number in range(3)]
        assert talk.outcomes == []


async def test_what_a_server_says_is_put_to_the_only_request_in_progress_and_never_guessed() -> None:
    async with conversing() as (talk, tasks):
        await talk.server.say(method="before")
        tasks.start_soon(talk.ask, "a", "call a")
        await wait_all_tasks_blocked()
        await talk.server.say(method="during one")
        tasks.start_soon(talk.ask, "b", "call b")
        await wait_all_tasks_blocked()
        await talk.server.say(method="during two")
        await talk.server.say(id=talk.server.heard[0]["id"], result={})
        await talk.server.say(method="after the first")
        await talk.server.say(id="s", method="roots/list")
        assert [(method, origin) for method, _, origin in talk.news] == [
            ("before", None),
            ("during one", "call a"),
            ("during two", None),
            ("after the first", "call b"),
        ]
        assert talk.server.heard[-1]["result"]["for"] == "call b"


async def test_after_a_request_was_taken_back_nothing_is_put_to_the_next_one() -> None:
    async with conversing() as (talk, tasks):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as callers:
                callers.start_soon(talk.ask, "a", "call a")
                await wait_all_tasks_blocked()
                scope.cancel()
        tasks.start_soon(talk.ask, "b", "call b")
        await wait_all_tasks_blocked()
        await talk.server.say(method="is it for a or for b?")
        await talk.server.say(id=talk.server.heard[0]["id"], result={})  # it ended a all the same
        await talk.server.say(method="for b")
        assert [origin for _, _, origin in talk.news] == [None, "call b"]


async def test_half_a_character_costs_only_the_message_that_holds_it() -> None:
    async with conversing() as (talk, tasks):
        tasks.start_soon(talk.ask, "a")
        await wait_all_tasks_blocked()
        with pytest.raises(Unsayable):
            await talk.peer.request("b", {"half": "\ud800"})
        talk.more = {"half": "\ud800"}
        await talk.server.say(id="s", method="roots/list")
        assert [said.get("id") for said in talk.server.heard] == [talk.server.heard[0]["id"], "s"]
        assert talk.server.heard[-1]["error"]["code"] == INTERNAL_ERROR
        await talk.server.say(id=talk.server.heard[0]["id"], result={})
        assert talk.outcomes == [{}]


async def test_of_what_was_taken_back_no_more_is_remembered_than_it_takes_not_to_guess() -> None:
    async with conversing() as (talk, tasks):
        for _ in range(MOST_CANCELLED + 5):
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as callers:
                    callers.start_soon(talk.ask, "a", "call a")
                    await checkpoint()
                    scope.cancel()
        assert len(talk.peer._whose._cancelled) == MOST_CANCELLED
        for said in [one for one in talk.server.heard if "id" in one]:
            await talk.server.say(id=said["id"], result={})  # all of them end after all, but some were forgotten
        tasks.start_soon(talk.ask, "b", "call b")
        await wait_all_tasks_blocked()
        await talk.server.say(method="for whom?")
        assert [origin for _, _, origin in talk.news] == [None]
