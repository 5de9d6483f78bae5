"""Workers that lie: a program may have got the better of its engine, and then says whatever it likes."""

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from mcpguard.engines.code_run import FailureCode, Program, RunEnd
from mcpguard.engines.engines import ENGINE
from tests.engines.running import TIGHT, Answering, engines

pytestmark = pytest.mark.anyio
READY = f"""\
import os, sys, time

def say(line):
    os.write(1, line.encode() + b"\\n")

CALL = '{{"call":[{{"server":"a","tool":"b","args":{{}}}}],"parallel":1}}'
say('{{"ready":"{version(ENGINE)}"}}')
sys.stdin.readline()
"""
NAMED = READY + """say('{"names":[]}')\nsys.stdin.readline()\n"""
STAYS = "\ntime.sleep(10_000)\n"
LIES = {
    "garbage": NAMED + r"os.write(1, b'\x00\xff{[\n')",
    "no object": NAMED + "say('[1]')",
    "a line without an end": NAMED + "while True: os.write(1, b'a' * 65536)",
    "a large value": NAMED + """say('{"value":"%s"}' % ('a' * 1_200_000))""",
    "two values for one key": NAMED + """say('{"value":1,"value":2}')""",
    "no number": NAMED + """say('{"value":NaN}')""",
    "half a character": NAMED + r"""say('{"value":"\\ud800"}')""",
    "depth": NAMED + """say('{"value":%s%s}' % ('[' * 200, ']' * 200))""",
    "a state that nobody asked for": NAMED + """say('{"state":"QQ=="}')""",
    "readiness once more": NAMED + """say('{"ready":"1"}')""",
    "names in another form": READY + """say('{"names":[["a",1]]}')""",
    "too many names": READY + """say('{"names":[%s]}' % ','.join(['["a","b"]'] * 6000))""",
    "a call with more": NAMED + """say(CALL.replace('{}', '{},"caller":"root"'))""",
    "a call of a number": NAMED + """say(CALL.replace('"a"', '1'))""",
    "a call with a list": NAMED + """say(CALL.replace('{}', '[]'))""",
    "a parallel that is text": NAMED + """say(CALL.replace('"parallel":1', '"parallel":"1"'))""",
    "a failure of the guard's": NAMED + """say('{"failed":{"code":"SERVER_NOT_ALLOWED","message":"","line":1}}')""",
    "a failure of no kind": NAMED + """say('{"failed":{"code":"X","message":"","line":1}}')""",
    "an endless log": NAMED + """while True: say('{"log":"a"}')""",
    "an endless log of nothing": NAMED + """while True: say('{"log":""}')""",
    "its own death": NAMED + "os.kill(os.getpid(), 9)",
    "memory": NAMED + "x = []\nwhile True: x.append(b'a' * 1_000_000)",
    "silence": NAMED,
    "half a line": NAMED + """os.write(1, b'{"value"')""",
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
async def test_a_lie_ends_its_run_and_makes_no_call(lie: str, tmp_path: Path) -> None:
    worker = tmp_path / "worker" / "lying.py"
    worker.parent.mkdir()
    worker.write_text(lie + STAYS)
    host = Answering()
    async with engines(tmp_path, worker=worker) as made:
        end = await made.execute(Program("1"), replace(TIGHT, seconds=0.2), host)
    assert isinstance(end, RunEnd)
    assert end.failure is not None
    assert end.failure.code in {
        FailureCode.RUNTIME_ERROR,
        FailureCode.SERIALIZATION_ERROR,
        FailureCode.LIMIT_EXCEEDED,
        FailureCode.TIMEOUT,
    }
    assert host.made == []
    assert sum(map(len, end.logs)) <= TIGHT.log


async def test_calls_are_counted_whatever_a_worker_says(tmp_path: Path) -> None:
    worker = tmp_path / "worker" / "lying.py"
    worker.parent.mkdir()
    worker.write_text(NAMED + "while True:\n    say(CALL)\n    sys.stdin.readline()\n")
    host = Answering()
    async with engines(tmp_path, worker=worker) as made:
        end = await made.execute(Program("1"), TIGHT, host)
    assert isinstance(end, RunEnd)
    assert end.failure is not None
    assert (end.failure.code, len(host.made)) == ("MAX_TOOL_CALLS_EXCEEDED", TIGHT.calls)


async def test_a_stubborn_worker_is_gone_with_what_it_started(tmp_path: Path) -> None:
    worker = tmp_path / "worker" / "lying.py"
    worker.parent.mkdir()
    ignores = "import signal\nfor each in (signal.SIGTERM, signal.SIGHUP): signal.signal(each, signal.SIG_IGN)\n"
    leaves = "if not os.fork():\n    os.setsid()\n    time.sleep(10_000)\n"
    worker.write_text(ignores + NAMED + leaves + """say('{"value":1}')""" + STAYS)
    async with engines(tmp_path, worker=worker) as made:
        end = await made.execute(Program("1"), TIGHT, Answering())
        assert isinstance(end, RunEnd)
        assert end.value == 1
