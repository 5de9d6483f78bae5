"""A program that waits for a person goes on in another worker, with what it has used up already."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mcpguard.engines.code_run import (
    FailureCode,
    InnerCall,
    Program,
    RunEnd,
    RunFailed,
    RunFailure,
    RunLimits,
    SuspendedRun,
)
from mcpguard.engines.engines import CodeEngines
from tests.engines.running import PATIENT, TIGHT, Answering, ended, engines

pytestmark = pytest.mark.anyio


async def suspended_run(
    made: CodeEngines, program: Program, host: Answering, limits: RunLimits = TIGHT
) -> SuspendedRun:
    found = await made.execute(program, limits, host)
    assert isinstance(found, SuspendedRun), found
    return found


async def test_a_suspended_program_goes_on_in_another_worker(tmp_path: Path) -> None:
    program = Program(
        "before = call_tool('a', 'b', {'n': 1})\n"
        "log('before')\n"
        "several = call_tools([{'server': 'a', 'tool': 'wait'}, {'server': 'a', 'tool': 'c'}])\n"
        "one = await call_tool('a', 'wait')\n"
        "[before['result']['n'], several, one, input]",
        {"n": [1.5, None]},
    )
    host = Answering(waits="wait")
    async with engines(tmp_path) as made:
        first = await suspended_run(made, program, host)
        second = await made.resume(first, [1, 2], program, TIGHT, host)
        assert isinstance(second, SuspendedRun)
        end = await made.resume(second, ["3"], program, TIGHT, host)
    assert end == RunEnd([1, [1, 2], "3", {"n": [1.5, None]}], None, ("before",))
    assert len(first.state) < 8 * 1024
    assert [many for many, _ in host.together] == [1, 2, 1], "no call is made twice"


async def test_calls_that_are_made_together_wait_together_and_none_is_made_twice(tmp_path: Path) -> None:
    """Also where one call waits while others are awaited that are yet to be made."""
    program = Program(
        "import asyncio\n"
        "async def pair(n):\n"
        "  first = await call_tool('a', 'b', {'n': n})\n"
        "  second = call_tool('a', 'wait') if n == 2 else await call_tool('a', 'c', {'n': n})\n"
        "  return [first['result'], second]\n"
        "await asyncio.gather(pair(1), pair(2), call_tool('a', 'wait'), asyncio.sleep(0))"
    )
    host, again = Answering(waits="wait"), Answering(waits="wait")
    async with engines(tmp_path) as made:
        first = await suspended_run(made, program, host)
        assert sorted(each.tool for each in host.made) == ["b", "b", "wait"]
        answers = [{"result": dict(each.arguments)} if each.tool == "b" else "late" for each in host.made]
        second = await made.resume(first, answers, program, TIGHT, again)
        assert isinstance(second, SuspendedRun)
        assert [each.tool for each in again.made] == ["wait"]
        last = Answering()
        end = await made.resume(second, ["later"], program, TIGHT, last)
    assert isinstance(end, RunEnd)
    assert end.failure is None, end
    assert end.value == [[{"n": 1}, {"ok": True, "result": {"n": 1}}], [{"n": 2}, "later"], "late", None]
    assert [each.tool for each in last.made] == ["c"]


async def test_what_a_program_has_used_counts_when_it_goes_on(tmp_path: Path) -> None:
    program = Program('call_tool("a", "wait")\nfor i in range(60): call_tool("a", "b")')
    async with engines(tmp_path) as made:
        suspended = await suspended_run(made, program, Answering(waits="wait"))
        assert suspended.calls == 1
        host = Answering()
        end = await made.resume(suspended, [{}], program, TIGHT, host)
        assert isinstance(end, RunEnd)
        assert end.failure is not None
        assert (end.failure.code, len(host.made)) == ("MAX_TOOL_CALLS_EXCEEDED", TIGHT.calls - 1)


async def test_arguments_count_when_it_goes_on(tmp_path: Path) -> None:
    program = Program("call_tool('a', 'wait', {'x': 'y' * 300_000})\ncall_tool('a', 'b', {'x': 'y' * 300_000})")
    async with engines(tmp_path) as made:
        limits = replace(TIGHT, arguments=500_000)
        suspended = await suspended_run(made, program, Answering(waits="wait"), limits)
        end = await made.resume(suspended, [{}], program, limits, Answering())
        assert isinstance(end, RunEnd)
        assert end.failure is not None
        assert (end.failure.code, end.failure.line) == ("LIMIT_EXCEEDED", 2)


async def test_a_run_that_has_used_up_its_time_does_not_go_on(tmp_path: Path) -> None:
    program = Program("call_tool('a', 'wait')")
    async with engines(tmp_path) as made:
        suspended = await suspended_run(made, program, Answering(waits="wait"))
        assert suspended.seconds > 0
        spent = replace(suspended, seconds=PATIENT.wall_seconds)
        end = await made.resume(spent, [None], program, PATIENT, Answering())
    assert isinstance(end, RunEnd)
    assert end.failure is not None
    assert end.failure.code == "TIMEOUT"


@pytest.mark.parametrize(("rest", "code"), [("while True: pass", "TIMEOUT"), ("'a' * 10**9", "LIMIT_EXCEEDED")])
async def test_a_run_that_goes_on_is_held_to_its_limits(rest: str, code: str, tmp_path: Path) -> None:
    program = Program(f"call_tool('a', 'wait')\n{rest}")
    limits = replace(PATIENT, seconds=0.5 if code == "TIMEOUT" else PATIENT.seconds)
    async with engines(tmp_path) as made:
        suspended = await suspended_run(made, program, Answering(waits="wait"), limits)
        end = await made.resume(suspended, [None], program, limits, Answering())
    assert isinstance(end, RunEnd)
    assert end.failure is not None
    assert end.failure.code == code


async def test_a_program_that_holds_too_much_cannot_be_suspended(tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        source = "x = 'abcdefgh' * 500_000\ncall_tool('a', 'wait')\nx"
        end = await ended(made, source, host=Answering(waits="wait"))
    message = "the program holds more than 1048576 bytes while a call of it has to wait"
    assert end.failure == RunFailure(FailureCode.LIMIT_EXCEEDED, message, 2)


@pytest.mark.parametrize("code", list(FailureCode))
async def test_whatever_the_host_says_no_call_is_made_twice(code: FailureCode, tmp_path: Path) -> None:
    class Refusing(Answering):
        async def call(self, calls: Sequence[InnerCall], parallel: int) -> Sequence[object]:
            await super().call(calls, parallel)
            raise RunFailed(code, "no")

    host = Refusing()
    async with engines(tmp_path) as made:
        end = await ended(made, "\ncall_tool('a', 'b')", host=host)
        assert end.failure == RunFailure(code, "no", 2)
    assert len(host.made) == 1


async def test_the_host_may_refuse_what_is_named_before_anything_runs(tmp_path: Path) -> None:
    class Narrow(Answering):
        async def check(self, names: Sequence[tuple[str, str]]) -> dict[int, object]:
            raise RunFailed(FailureCode.SERVER_NOT_ALLOWED, f"not {names[0][0]}")

    host = Narrow()
    async with engines(tmp_path) as made:
        end = await ended(made, "log('ran')\ncall_tool('web', 'page')", host=host)
    assert end == RunEnd(failure=RunFailure(FailureCode.SERVER_NOT_ALLOWED, "not web"))
    assert host.made == []


@pytest.mark.parametrize("room", [100, 104, 105, 167, 168, 207, 208, 209, 272, 273, 274, 500])
async def test_no_line_is_left_out_of_a_log_without_a_word(room: int, tmp_path: Path) -> None:
    """Also where the program was suspended before or after the line that did not fit."""
    limits = replace(TIGHT, log=room)
    before, after = "log('x' * 40)\nlog('ü' * 20)\n", "log('y')\nlog('')\n'done'"
    async with engines(tmp_path) as made:
        at_once = await made.execute(Program(before + after), limits, Answering())
        program = Program(f"{before}call_tool('a', 'wait')\n{after}")
        suspended = await suspended_run(made, program, Answering(waits="wait"), limits)
        later = await made.resume(suspended, [None], program, limits, Answering())
    assert at_once == later
    assert isinstance(later, RunEnd)
    assert later.value == "done"
    whole = ["x" * 40, "ü" * 20, "y", ""]
    kept = [each for each in later.logs if each != "[the log is full]"]
    assert kept == whole[: len(kept)]
    assert (len(kept) < 4) == (later.logs[-1] == "[the log is full]")
    assert sum(len(each.encode()) + 64 for each in kept) <= room


async def test_a_log_is_cut_where_it_is_full_and_the_program_goes_on(tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        source = "for i in range(500): log('ä' * 3000)\nfor i in range(500): print('x' * 300)\n'done'"
        end = await ended(made, source, seconds=30.0)
    assert (end.value, end.failure) == ("done", None)
    assert end.logs[-1] == "[the log is full]"
    assert end.logs[0] == "ä" * 2048 + " […]"
    assert sum(len(each.encode()) for each in end.logs) < 80 * 1024
