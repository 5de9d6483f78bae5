"""Many programs at once: so many workers and no more, in fair turns, and each run can be cancelled."""

import os
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from mcpguard.engines import engines as engines_module
from mcpguard.engines.code_run import InnerCall, Program, RunEnd
from mcpguard.engines.fair_turns import FairTurns
from mcpguard.upstreams.process.tree import descendants
from tests.engines.running import PATIENT, Answering, ended, engines, value_of

pytestmark = pytest.mark.anyio


class Gate(Answering):
    """Answers nothing until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = anyio.Event()
        self.reached = anyio.Event()
        self.most = 0
        self._inside = 0

    async def call(self, calls: Sequence[InnerCall], parallel: int) -> Sequence[object]:  # noqa: ARG002
        self._inside += 1
        self.most = max(self.most, self._inside)
        self.reached.set()
        try:
            await self.opened.wait()
        finally:
            self._inside -= 1
        return [each.arguments for each in calls]


async def test_a_thousand_runs_at_once_take_turns(tmp_path: Path) -> None:
    runs, gate, ends, some = 1000, Gate(), dict[int, object](), anyio.Event()
    async with engines(tmp_path) as made:

        async def run(number: int) -> None:
            program = Program("call_tool('a', 'b', {'n': input})['n']", number)
            ends[number] = await made.execute(program, PATIENT, gate, f"{number % 7}")
            if len(ends) >= 20:
                some.set()

        async with anyio.create_task_group() as tasks:
            for number in range(runs):
                tasks.start_soon(run, number)
            await gate.reached.wait()
            workers = {each for each in descendants(os.getpid()) if b"monty\0sub" in command_of(each)}
            assert len(workers) <= 2 + 1, "with the spare"
            gate.opened.set()
            await some.wait()
            tasks.cancel_scope.cancel()  # the others would only take long
        assert gate.most <= 2
        assert ends
        assert all(end == RunEnd(number) for number, end in ends.items())
        assert await value_of(made, "'and then'") == "and then", "the turns of those that were cancelled are free"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs workers as other users")
async def test_no_two_workers_share_a_user(tmp_path: Path) -> None:
    before, gates = descendants(os.getpid()), [Gate(), Gate()]
    async with engines(tmp_path) as made, anyio.create_task_group() as tasks:
        for gate in gates:
            tasks.start_soon(ended, made, "call_tool('a', 'b')", None, gate)
            await gate.reached.wait()
        theirs = descendants(os.getpid()) - before
        users = [user_of(each) for each in theirs if b"monty\0sub" in command_of(each)]
        assert len(users) >= len(gates)
        assert len({*users, os.geteuid()}) == len(users) + 1
        for gate in gates:
            gate.opened.set()


async def test_whoever_started_many_waits_for_their_own(tmp_path: Path) -> None:
    order, first = list[str](), Gate()
    async with engines(tmp_path, at_once=1) as made:

        async def run(whose: str, host: Answering) -> None:
            await made.execute(Program("call_tool('a', 'b')"), PATIENT, host, whose)
            order.append(whose)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, "first", first)
            await first.reached.wait()
            for whose in ("many", "many", "many", "many", "one", "another"):
                tasks.start_soon(run, whose, Answering())
                await anyio.wait_all_tasks_blocked()
            first.opened.set()
    assert order == ["first", "many", "one", "another", "many", "many", "many"]


async def test_a_run_that_waits_can_be_cancelled_and_so_can_one_that_runs(tmp_path: Path) -> None:
    async with engines(tmp_path, at_once=1) as made:
        for _ in range(3):
            gate = Gate()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ended, made, "call_tool('a', 'b')", None, gate)
                await gate.reached.wait()
                tasks.start_soon(ended, made, "call_tool('a', 'b')")
                await anyio.wait_all_tasks_blocked()
                tasks.cancel_scope.cancel()
        assert await value_of(made, "1 + 1") == 2


async def test_whoever_gets_no_turn_in_time_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines_module, "TURN_SECONDS", 0.1)
    gate = Gate()
    async with engines(tmp_path, at_once=1) as made, anyio.create_task_group() as tasks:
        tasks.start_soon(ended, made, "call_tool('a', 'b')", None, gate)
        await gate.reached.wait()
        end = await ended(made, "1")
        assert end.failure is not None
        assert (end.failure.code, "0.1 seconds" in end.failure.message) == ("ENGINE_UNAVAILABLE", True)
        gate.opened.set()


async def test_a_turn_that_comes_to_one_who_is_cancelled_goes_to_the_next() -> None:
    turns, got = FairTurns(1), list[str]()

    async def take(whose: str) -> None:
        await turns.take(whose)
        got.append(whose)
        turns.give_back()

    await turns.take("first")
    async with anyio.create_task_group() as tasks:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as leaving:
                leaving.start_soon(take, "leaves")
                await anyio.wait_all_tasks_blocked()
                tasks.start_soon(take, "next")
                await anyio.wait_all_tasks_blocked()
                turns.give_back()
                scope.cancel()
    assert got[-1] == "next"
    await turns.take("last")


def user_of(process: int) -> int:
    return Path(f"/proc/{process}").stat().st_uid


def command_of(process: int) -> bytes:
    """Its command line; empty when it is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
