"""Places at a server: never more than there are, none is lost, first come first served, and the line has an end.

The machine does to `CallSlots` whatever callers can do, in any order, and keeps a model of it that is too simple to be
wrong: who holds a place, and who stands in line.
"""

import contextlib

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from anyio.lowlevel import checkpoint
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mcpguard.upstreams.protocol.calls_in_flight import Busy, CallSlots
from tests.tiers import examples

pytestmark = pytest.mark.anyio


class Caller:
    """Takes a place, holds it until told to go, and can be cancelled at any time."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.go = anyio.Event()
        self.holds = False
        self.turned_away = False
        self.ended = False

    async def run(self, turns: CallSlots) -> None:
        with self.scope:
            try:
                async with turns:
                    self.holds = True
                    try:
                        await self.go.wait()
                    finally:
                        self.holds = False
            except Busy:
                self.turned_away = True
        self.ended = True


async def settled() -> None:
    for _ in range(10):
        await checkpoint()


class Crowd(RuleBasedStateMachine):
    """Callers come, go, and give up."""

    @initialize(places=st.integers(1, 4), line=st.integers(0, 4))
    def open(self, places: int, line: int) -> None:
        self.places, self.longest = places, line
        self.holding: list[Caller] = []
        self.waiting: list[Caller] = []
        self.stack = contextlib.ExitStack()
        self.portal: BlockingPortal = self.stack.enter_context(start_blocking_portal())
        self.turns = CallSlots(places, line)
        self.portal.call(settled)

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            for caller in (*self.waiting, *self.holding):
                self.portal.call(caller.scope.cancel)
            self.stack.close()

    @rule()
    def comes(self) -> None:
        caller = self.portal.call(Caller)
        self.portal.start_task_soon(caller.run, self.turns)
        self.portal.call(settled)
        if len(self.holding) < self.places:
            self.holding.append(caller)
        elif len(self.waiting) < self.longest:
            self.waiting.append(caller)
        else:
            assert caller.turned_away
            assert caller.ended

    @precondition(lambda self: self.holding)
    @rule(data=st.data())
    def goes(self, data: st.DataObject) -> None:
        caller = self.holding.pop(data.draw(st.integers(0, len(self.holding) - 1)))
        self.portal.call(caller.go.set)
        self._next()

    @precondition(lambda self: self.holding)
    @rule(data=st.data())
    def is_cancelled_while_holding(self, data: st.DataObject) -> None:
        caller = self.holding.pop(data.draw(st.integers(0, len(self.holding) - 1)))
        self.portal.call(caller.scope.cancel)
        self._next()

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def gives_up_in_line(self, data: st.DataObject) -> None:
        caller = self.waiting.pop(data.draw(st.integers(0, len(self.waiting) - 1)))
        self.portal.call(caller.scope.cancel)
        self.portal.call(settled)
        assert caller.ended

    @precondition(lambda self: self.holding and self.waiting)
    @rule(steps=st.integers(0, 4))
    def is_called_and_gives_up_at_the_same_moment(self, steps: int) -> None:
        """The place may have been given to them already: it has to reach the next one."""
        leaver, called = self.holding.pop(0), self.waiting.pop(0)

        async def in_one_go() -> None:
            leaver.go.set()
            for _ in range(steps):
                await checkpoint()
            called.scope.cancel()
            await settled()

        self.portal.call(in_one_go)
        assert called.ended
        self._next()

    def _next(self) -> None:
        if self.waiting and len(self.holding) < self.places:
            self.holding.append(self.waiting.pop(0))
        self.portal.call(settled)

    @invariant()
    def it_is_as_the_model_says(self) -> None:
        if not hasattr(self, "turns"):
            return
        assert self.turns.taken == len(self.holding) <= self.places
        assert all(caller.holds for caller in self.holding)
        assert not any(caller.holds or caller.ended for caller in self.waiting)


TestCrowd = Crowd.TestCase
TestCrowd.settings = settings(max_examples=examples(30), stateful_step_count=30, deadline=None)


async def test_the_first_who_waits_is_the_first_who_is_called() -> None:
    turns, order = CallSlots(1, 10), []

    async def come(number: int) -> None:
        async with turns:
            order.append(number)

    async with anyio.create_task_group() as tasks:
        async with turns:
            for number in range(5):
                tasks.start_soon(come, number)
                await settled()
        async with turns:  # whoever comes now stands behind them
            assert order == [0, 1, 2, 3, 4]


async def test_who_finds_the_line_full_hears_how_many_wait() -> None:
    turns = CallSlots(1, 0)
    async with turns:
        with pytest.raises(Busy, match="0 calls are waiting"):
            async with turns:
                raise AssertionError
    async with turns:
        assert turns.taken == 1
    assert turns.taken == 0


async def test_places_can_become_fewer_and_more_while_they_are_taken() -> None:
    turns, came = CallSlots(3, 10), list[int]()
    leave = [anyio.Event() for _ in range(5)]

    async def visit(number: int) -> None:
        async with turns:
            came.append(number)
            await leave[number].wait()

    async with anyio.create_task_group() as tasks:
        for number in range(4):
            tasks.start_soon(visit, number)
            await anyio.wait_all_tasks_blocked()
        assert came == [0, 1, 2]
        turns.limit(1)
        for number in (0, 1):
            leave[number].set()
            await anyio.wait_all_tasks_blocked()
        assert came == [0, 1, 2], "still as many as there may be"
        leave[2].set()
        await anyio.wait_all_tasks_blocked()
        assert came == [0, 1, 2, 3]
        tasks.start_soon(visit, 4)
        await anyio.wait_all_tasks_blocked()
        assert came == [0, 1, 2, 3]
        turns.limit(2)
        await anyio.wait_all_tasks_blocked()
        assert came == [0, 1, 2, 3, 4]
        for event in leave:
            event.set()
    assert turns.taken == 0
