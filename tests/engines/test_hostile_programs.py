"""Programs that try to hurt whoever runs them: each ends with its error, and no other program notices."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from mcpguard.engines.code_run import Program, RunEnd
from mcpguard.upstreams.process.tree import descendants
from tests.engines.hostile import HOSTILE
from tests.engines.running import TIGHT, Answering, ended, engines

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("source", "code"), HOSTILE.values(), ids=HOSTILE)
async def test_it_ends_with_its_error_while_others_go_on(source: str, code: str, tmp_path: Path) -> None:
    ends: list[RunEnd] = []
    async with engines(tmp_path) as made, anyio.create_task_group() as tasks:

        async def attack() -> None:
            ends.append(await ended(made, source))

        tasks.start_soon(attack)
        beside = await ended(made, 'call_tool("web", "echo", {"n": input})["result"]["n"]', 7)
        assert (beside.value, beside.failure) == (7, None)
    (end,) = ends
    assert (end.failure.code if end.failure else "") == code, end
    assert end.value in (None, 1)


async def test_a_worker_that_is_killed_ends_its_run_alone(tmp_path: Path) -> None:
    others = {*descendants(os.getpid())}
    async with engines(tmp_path) as made:

        class Killing(Answering):
            async def call(self, _calls: object, _parallel: int) -> list[object]:
                for pid in {*descendants(os.getpid())} - others:
                    with suppress(ProcessLookupError):  # it ended with the one before
                        os.kill(pid, signal.SIGKILL)
                return [{}]

        end = await made.execute(Program('call_tool("a", "b")'), TIGHT, Killing())
        assert isinstance(end, RunEnd)
        assert end.failure is not None
        assert end.failure.code == "RUNTIME_ERROR"
        assert (await ended(made, "1 + 1")).value == 2


async def test_many_at_once_wait_in_turn(tmp_path: Path) -> None:
    values: list[object] = []
    async with engines(tmp_path) as made, anyio.create_task_group() as tasks:

        async def one(number: int) -> None:
            values.append((await ended(made, "input * 2", number)).value)

        for number in range(30):
            tasks.start_soon(one, number)
    assert sorted(values, key=str) == sorted((2 * number for number in range(30)), key=str)


async def test_a_run_that_is_given_up_leaves_its_place(tmp_path: Path) -> None:
    async with engines(tmp_path, at_once=1) as made:
        async with anyio.create_task_group() as tasks:
            started = anyio.Event()

            class Slow(Answering):
                async def call(self, _calls: object, _parallel: int) -> list[object]:
                    started.set()
                    await anyio.sleep_forever()
                    raise AssertionError

            async def forever() -> None:
                await made.execute(Program('call_tool("a", "b")'), TIGHT, Slow())

            tasks.start_soon(forever)
            await started.wait()
            tasks.cancel_scope.cancel()
        assert (await ended(made, "3")).value == 3
