"""Workers that lie: a program may have got the better of its engine, and then says whatever it likes."""

import errno
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.engines import engine_worker
from mcpguard.engines.code_run import InnerCall, Program, RunEnd, SuspendedRun
from mcpguard.upstreams.process.tree import descendants
from tests.engines.lies import LARGE, LIES, LOOKING, NAMED, NO_JSON, SILENT, STAYS, STUBBORN, lying
from tests.engines.running import PATIENT, TIGHT, Answering, ended, engines, value_of
from tests.process import gone

pytestmark = pytest.mark.anyio
CODES = (
    dict.fromkeys(SILENT, "TIMEOUT")
    | dict.fromkeys(NO_JSON, "SERIALIZATION_ERROR")
    | dict.fromkeys(LARGE, "LIMIT_EXCEEDED")
    | dict.fromkeys(LIES, "RUNTIME_ERROR")
    | {"memory": "LIMIT_EXCEEDED RUNTIME_ERROR"}  # either it is killed, or it gets no more, and ends
)


@pytest.mark.parametrize("name", CODES)
async def test_a_lie_ends_its_run_and_nothing_else(name: str, tmp_path: Path) -> None:
    worker = lying(tmp_path, (SILENT | NO_JSON | LARGE | LIES)[name] + STAYS)
    (tmp_path / "others").mkdir()
    host, ends = Answering(), list[RunEnd]()
    async with engines(tmp_path, worker=worker) as made, engines(tmp_path / "others") as others:

        async def lied_to() -> None:
            seconds = {"wall_seconds": 0.5} if name in SILENT else {}
            ends.append(await ended(made, "1", host=host, **{"seconds": 30.0, **seconds}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lied_to)
            assert await value_of(others, "call_tool('a', 'b', {'n': 1})['result']") == {"n": 1}
    (end,) = ends
    assert end.failure is not None, end
    assert end.failure.code in CODES[name].split(), end
    assert host.made == []
    assert sum(map(len, end.logs)) <= TIGHT.log


async def test_a_worker_that_is_silent_is_not_waited_for_until_the_run_is_over(tmp_path: Path) -> None:
    async with engines(tmp_path, worker=lying(tmp_path, NAMED + STAYS)) as made:
        end = await ended(made, "1", seconds=0.1)
    assert end.failure is not None
    assert (end.failure.code, "0.1 seconds" in end.failure.message) == ("TIMEOUT", True)


@pytest.mark.parametrize(
    ("call", "limits", "code"),
    [
        ("CALL", {"calls": 10}, "MAX_TOOL_CALLS_EXCEEDED"),
        ("""CALL.replace('{}', '{"x":"%s"}' % ('a' * 50_000))""", {"arguments": 510_000}, "LIMIT_EXCEEDED"),
    ],
)
async def test_the_guard_counts_for_itself(call: str, limits: dict[str, Any], code: str, tmp_path: Path) -> None:
    host, lie = Answering(), f"{NAMED}while True:\n    say({call})\n    sys.stdin.readline()\n"
    async with engines(tmp_path, worker=lying(tmp_path, lie)) as made:
        end = await ended(made, "1", host=host, **limits)
    assert end.failure is not None
    assert (end.failure.code, len(host.made)) == (code, 10)


@pytest.mark.parametrize("said", ['{"value":1}', '{"state":"?"}', '{"state":""}', '{"log":"a"}'])
async def test_a_worker_that_does_not_hand_over_its_program_is_ended(said: str, tmp_path: Path) -> None:
    lie = f"{NAMED}say(CALL.replace('\"b\"', '\"wait\"'))\nsys.stdin.readline()\nsay({said!r}){STAYS}"
    async with engines(tmp_path, worker=lying(tmp_path, lie)) as made:
        end = await ended(made, "1", host=Answering(waits="wait"))
    assert end.failure is not None
    assert end.failure.code == "RUNTIME_ERROR"


@pytest.mark.parametrize(
    "source",
    [
        "raise SystemExit('hello')",
        "import sys\nprint('hello', file=sys.stderr)\nraise SystemExit(1)",
        'print(\'{"ready":"1.3.9"}\', flush=True)',
        "print('hello', flush=True)",
        "print('a' * 10_000_000, flush=True)",
    ],
)
async def test_a_worker_that_does_not_start_is_no_engine(source: str, tmp_path: Path) -> None:
    """And what it wrote, and where that is kept, is not for agents."""
    async with engines(tmp_path, worker=lying(tmp_path, f"{source}\nimport time{STAYS}")) as made:
        for _ in range(2):
            end = await ended(made, "1")
            assert end.failure is not None
            assert end.failure.code == "ENGINE_UNAVAILABLE"
            assert str(tmp_path) not in end.failure.message
            assert "hello" not in end.failure.message


async def test_a_worker_that_is_never_ready_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_worker, "READY_SECONDS", 0.5)
    async with engines(tmp_path, worker=lying(tmp_path, "import time" + STAYS)) as made:
        end = await ended(made, "1")
    assert end.failure is not None
    assert end.failure.code == "ENGINE_UNAVAILABLE"


async def test_a_worker_that_was_killed_for_its_memory_says_so(tmp_path: Path) -> None:
    async with engines(tmp_path, worker=lying(tmp_path, LARGE["memory of two processes"] + STAYS)) as made:
        end = await ended(made, "1", seconds=30.0)
    assert end.failure is not None
    assert end.failure.message == "it was killed because it used more than 256 MiB of memory"


async def test_a_worker_is_gone_with_all_that_it_started(tmp_path: Path) -> None:
    before = descendants(os.getpid())
    async with engines(tmp_path, worker=lying(tmp_path, STUBBORN)) as made:
        assert (await ended(made, "1")).value == 1
        theirs = descendants(os.getpid()) - before
    assert theirs
    assert all(map(gone, theirs))


async def test_workers_that_are_killed_end_their_run_alone(tmp_path: Path) -> None:
    class Killing(Answering):
        async def call(self, calls: Sequence[InnerCall], parallel: int) -> Sequence[object]:  # noqa: ARG002
            for pid in descendants(os.getpid()) - before:
                with suppress(ProcessLookupError):  # it ended with the one before
                    os.kill(pid, signal.SIGKILL)
            return [{}]

    before = descendants(os.getpid())
    async with engines(tmp_path) as made:
        end = await ended(made, 'call_tool("a", "b")', host=Killing())
        assert end.failure is not None
        assert end.failure.code == "RUNTIME_ERROR"
        assert await value_of(made, "1 + 1") == 2, "also where the spare worker was killed with it"


async def test_an_engine_that_is_killed_ends_its_run_alone(tmp_path: Path) -> None:
    class Killing(Answering):
        async def call(self, calls: Sequence[InnerCall], parallel: int) -> Sequence[object]:  # noqa: ARG002
            for pid in descendants(os.getpid()) - before:
                if b"monty\0subprocess" in command_of(pid):
                    os.kill(pid, signal.SIGKILL)
            return [{}]

    before = descendants(os.getpid())
    async with engines(tmp_path) as made:
        end = await ended(made, 'call_tool("a", "b")', host=Killing())
        assert end.failure is not None
        assert end.failure.code == "RUNTIME_ERROR"
        assert await value_of(made, "1 + 1") == 2


async def test_a_worker_sees_nothing_but_its_interpreter_and_its_engine(tmp_path: Path) -> None:
    """What a program could reach that broke out of its engine: the worker itself is in the sandbox."""
    paths = ["/etc/passwd", "/root/.ssh", "/home", str(tmp_path), str(Path.cwd() / "mcpguard")]
    async with engines(tmp_path, worker=lying(tmp_path, LOOKING.replace("PATHS", repr(paths)))) as made:
        *seen, refused, names = await value_of(made, "1")
    assert seen == []
    assert refused in {errno.ENETUNREACH, errno.ECONNREFUSED}
    assert set(names) <= {"HOME", "LC_CTYPE", "MCPGUARD_STARTED", "PATH", "PWD", "TMPDIR", "XDG_CACHE_HOME"}


async def test_a_forged_state_hurts_nobody(tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        for state in ("", "AAAA", "x" * 10_000, "e30K", "eyJhc2tlZCI6IFtdLCAibGVmdCI6IFtdfQo="):
            end = await made.resume(SuspendedRun(state), [1], Program("1"), PATIENT, Answering())
            assert isinstance(end, RunEnd)
            assert end.failure is not None
        assert await value_of(made, "1") == 1


def test_a_state_is_not_shown() -> None:
    assert "secret" not in repr(SuspendedRun("secret"))


def command_of(process: int) -> bytes:
    """Its command line; empty when it is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
