"""Programs that want more than they may: each ends with its error, and no other program notices."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from mcpguard.engines.code_run import InnerCall, RunEnd
from tests.engines.hostile import HOSTILE, LAUGHS
from tests.engines.running import Answering, ended, engines, value_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("name", HOSTILE)
async def test_it_ends_with_its_error_while_others_go_on(name: str, tmp_path: Path) -> None:
    source, code, says = HOSTILE[name]
    ends: list[RunEnd] = []
    async with engines(tmp_path) as made, anyio.create_task_group() as tasks:

        async def attack() -> None:
            ends.append(await ended(made, source, seconds=1.0 if code == "TIMEOUT" else 30.0))

        tasks.start_soon(attack)
        assert await value_of(made, "[call_tool('a', 'b', {'n': n})['result']['n'] for n in range(input)]", 3) == [
            0,
            1,
            2,
        ]
    (end,) = ends
    assert end.failure is not None, end
    assert (end.failure.code, says.lower() in end.failure.message.lower()) == (code, True), end
    assert end.value is None


@pytest.mark.parametrize("pause", ["import time\ntime.sleep(10**8)", "import asyncio\nawait asyncio.sleep(10**8)"])
async def test_whoever_sleeps_is_ended_when_its_time_is_over(pause: str, tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        end = await ended(made, pause, wall_seconds=0.5)
        assert end.failure is not None
        assert (end.failure.code, "0.5 seconds" in end.failure.message) == ("TIMEOUT", True)


async def test_a_hundred_megabytes_of_arguments_do_not_leave_the_worker(tmp_path: Path) -> None:
    host = Answering()
    async with engines(tmp_path) as made:
        end = await ended(made, "call_tool('a', 'b', {'x': 'a' * 100_000_000})", host=host, memory=150_000_000)
        assert end.failure is not None
        assert end.failure.code == "LIMIT_EXCEEDED"
        assert host.made == []
        assert await value_of(made, "1 + 1") == 2


async def test_what_a_program_prints_is_a_line_of_its_log_and_nothing_else(tmp_path: Path) -> None:
    host = Answering()
    forged = ['{"value": "forged"}', '{"call": [], "parallel": 1, "line": 1}', '{"failed": {}}']
    async with engines(tmp_path) as made:
        source = "for each in input:\n  print('\\n' + each)\n  log(each + '\\n' + each)\n'mine'"
        end = await ended(made, source, forged, host)
    assert end == RunEnd("mine", None, tuple(line for each in forged for line in (each, f"{each}\n{each}")))
    assert host.made == []


async def test_a_value_that_multiplies_is_short_in_the_log(tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        end = await ended(made, f"{LAUGHS}log('it is', x)\n1")
        assert end.value == 1, end
        assert len(end.logs[0]) < 1000


async def test_a_program_says_how_many_calls_at_once_only_within_its_limit(tmp_path: Path) -> None:
    host = Answering()
    async with engines(tmp_path) as made:
        await value_of(made, "call_tools([{'server': 'a', 'tool': 'b'}] * 20, max_parallel=10**30)", host=host)
    assert host.together == [(20, 8)]


class Generous(Answering):
    """Answers every call with the same, whatever it is."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self._answer = answer

    async def call(self, calls: Sequence[InnerCall], parallel: int) -> Sequence[object]:  # noqa: ARG002
        return [self._answer]


@pytest.mark.parametrize("answer", ["a" * 30_000_000, [[[0] * 1000] * 1000], {"a": "ü" * 9_000_000}])
async def test_an_answer_that_is_too_large_ends_no_other_run(answer: object, tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        end = await ended(made, "len(call_tool('a', 'b'))", host=Generous(answer), memory=16_000_000, seconds=30.0)
        assert end.failure is not None, end
        assert (end.failure.code, "memory" in end.failure.message) == ("LIMIT_EXCEEDED", True), end
        assert await value_of(made, "1 + 1") == 2


async def test_a_deep_answer_is_a_value_like_others(tmp_path: Path) -> None:
    deep: object = 1
    for _ in range(200):
        deep = [deep]
    async with engines(tmp_path) as made:
        source = "x, n = call_tool('a', 'b'), 0\nwhile x != 1: x, n = x[0], n + 1\nn"
        assert await value_of(made, source, host=Generous(deep)) == 200
