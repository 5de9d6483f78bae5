"""A server's time and its place while somebody else is asked, and what is asked when the call ends."""

import math

import anyio
import pytest

from mcpguard.domain.asks import Answers, Ask, Asks, QuestionDeclined
from mcpguard.domain.reasons import Reason
from mcpguard.upstreams.protocol.call_slots import CallSlots
from mcpguard.upstreams.protocol.calls_in_flight import InFlight
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
        call = InFlight(somebody, 60, turns)
        before = call.limit.deadline
        for _ in range(at_once):
            tasks.start_soon(call.ask, ROOTS)
        await anyio.wait_all_tasks_blocked()
        assert call.limit.deadline == math.inf
        assert turns.taken == 0, "one place, however much is asked"
        somebody.thought.set()
        await anyio.wait_all_tasks_blocked()
        assert before <= call.limit.deadline < math.inf
        assert turns.taken == 1
    assert turns.taken == 0
    assert len(somebody.asked) == at_once


async def test_the_only_place_stays_taken() -> None:
    turns, somebody = CallSlots(1, 0), Thinking()
    async with turns, anyio.create_task_group() as tasks:
        call = InFlight(somebody, 60, turns)
        tasks.start_soon(call.ask, ROOTS)
        await anyio.wait_all_tasks_blocked()
        assert turns.taken == 1
        somebody.thought.set()


async def test_what_is_asked_ends_with_the_call() -> None:
    turns, somebody, declined = CallSlots(2, 0), Thinking(), list[Reason]()

    async def ask() -> None:
        try:
            await call.ask(ROOTS)
        except QuestionDeclined as error:
            declined.append(error.reason)

    async with turns, anyio.create_task_group() as tasks:
        call = InFlight(somebody, 60, turns)
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        call.end()
        tasks.start_soon(ask)
    assert declined == [Reason.CLIENT_UNANSWERED] * 2
    assert somebody.asked == []
    assert turns.taken == 0


async def test_time_that_is_over_is_over() -> None:
    call = InFlight(Thinking(), 0, CallSlots(1, 0))
    with call.limit:
        await anyio.sleep_forever()
    assert call.limit.cancelled_caught
