"""A server's time and its place while somebody else is asked, and what is asked when the call ends."""

import asyncio
import math

import anyio
import anyio.lowlevel
import pytest

from mcpguard.domain.asks import Answers, Ask, Asks, QuestionDeclined
from mcpguard.domain.reasons import Reason
from mcpguard.upstreams.protocol.calls_in_flight import CallSlots, InFlight, Overdue
from tests.upstreams.flock import Somebody

pytestmark = pytest.mark.anyio
ROOTS = {"": Ask("roots/list", {})}


class Thinking(Somebody):
    """Answers when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = {"roots/list": {"roots": []}}
        self.thought = anyio.Event()

    async def ask(self, asks: Asks) -> Answers:
        await self.thought.wait()
        return await super().ask(asks)


@pytest.mark.parametrize("at_once", [1, 2, 5])
async def test_the_clock_stands_still_and_the_place_is_free_while_anybody_is_asked(at_once: int) -> None:
    turns, somebody = CallSlots(2, 0), Thinking()
    async with turns, anyio.create_task_group() as tasks:
        with InFlight(somebody, 60, turns, {}) as call:
            before = call.deadline
            for _ in range(at_once):
                tasks.start_soon(call.ask, ROOTS)
            await anyio.wait_all_tasks_blocked()
            assert call.deadline == math.inf
            assert turns.taken == 0, "one place, however much is asked"
            somebody.thought.set()
            await anyio.wait_all_tasks_blocked()
            assert before <= call.deadline < math.inf
            assert turns.taken == 1
    assert turns.taken == 0
    assert len(somebody.asked) == at_once


async def test_the_only_place_stays_taken() -> None:
    turns, somebody = CallSlots(1, 0), Thinking()
    async with turns, anyio.create_task_group() as tasks:
        with InFlight(somebody, 60, turns, {}) as call:
            tasks.start_soon(call.ask, ROOTS)
            await anyio.wait_all_tasks_blocked()
            assert turns.taken == 1
            somebody.thought.set()
            await anyio.wait_all_tasks_blocked()


async def test_what_is_asked_ends_with_the_call() -> None:
    turns, somebody, declined = CallSlots(2, 0), Thinking(), list[Reason]()

    async def ask() -> None:
        try:
            await call.ask(ROOTS)
        except QuestionDeclined as error:
            declined.append(error.reason)

    async with turns, anyio.create_task_group() as tasks:
        with InFlight(somebody, 60, turns, {}) as call:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
        tasks.start_soon(ask)
    assert declined == [Reason.CLIENT_UNANSWERED] * 2
    assert somebody.asked == []
    assert turns.taken == 0
    assert call.deadline == math.inf, "the time of a call that is over does not run"


async def test_time_that_is_over_is_over() -> None:
    task, calls = asyncio.current_task(), dict[object, InFlight]()
    with pytest.raises(Overdue), InFlight(Thinking(), 0, CallSlots(1, 0), calls):
        await anyio.sleep_forever()
    assert calls == {}
    assert task is not None
    assert task.cancelling() == 0, "nothing of it is left for what the task does next"
    await anyio.lowlevel.checkpoint()


async def test_the_time_goes_on_where_it_stood_when_the_client_has_answered() -> None:
    turns, somebody = CallSlots(2, 0), Thinking()
    somebody.thought.set()

    async def call() -> None:
        with InFlight(somebody, 0.01, turns, {}) as call:
            await call.ask(ROOTS)
            await anyio.sleep_forever()

    async with turns:
        with pytest.raises(Overdue):
            await call()


async def test_a_call_that_is_cancelled_when_its_time_is_over_was_cancelled() -> None:
    """Whoever cancels must not be told that the server was slow, and must not lose the cancellation."""

    async def call() -> None:
        with InFlight(Thinking(), 60, CallSlots(1, 0), {}) as call:
            asyncio.get_running_loop().call_soon(call._expire)
            asyncio.get_running_loop().call_soon(task.cancel)
            await anyio.sleep_forever()

    task = asyncio.create_task(call())
    await asyncio.wait([task])
    assert task.cancelled()


async def test_a_scope_that_is_cancelled_when_the_time_is_over_is_left() -> None:
    with anyio.CancelScope() as scope:
        with InFlight(Thinking(), 60, CallSlots(1, 0), {}) as call:
            asyncio.get_running_loop().call_soon(scope.cancel)
            asyncio.get_running_loop().call_soon(call._expire)
            await anyio.sleep_forever()
    assert scope.cancelled_caught
