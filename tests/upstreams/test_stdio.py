"""A server as a child process: real processes, kind and unkind."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from mcpguard.codec.framing import Framing
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.process.environment import environment
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.process_end import StdioPatience
from mcpguard.upstreams.process.secret_arguments import SecretArgument
from mcpguard.upstreams.process.stdio import ProcessLaunch, Stdio, stdio
from tests.process import gone, until

pytestmark = pytest.mark.anyio

LIMIT = 100_000
ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""
FRAMED_ECHO = """
import sys
while head := sys.stdin.buffer.readline():
    length = int(head.split(b":")[1])
    sys.stdin.buffer.readline()
    body = sys.stdin.buffer.read(length)
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
    sys.stdout.buffer.flush()
"""


LENGTHS_AFTER_GO = """
import sys
open("go").read()
for line in sys.stdin.buffer:
    print("[%d]" % len(line.strip()), flush=True)
"""


@asynccontextmanager
async def running(
    folder: Path, code: str, framing: Framing = Framing.LINES, patience: StdioPatience | None = None, **more: str
) -> AsyncIterator[Stdio]:
    """A server that is this Python program."""
    launch = ProcessLaunch(sys.executable, ("-u", "-c", code), environment(os.environ, more), folder, framing)
    async with stdio(launch, LIMIT, UpstreamLog(folder, "server", LIMIT), patience) as server:
        yield server


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def open_files() -> list[str]:
    return [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]


@pytest.mark.parametrize(("code", "framing"), [(ECHO, Framing.LINES), (FRAMED_ECHO, Framing.HEADERS)])
async def test_messages_go_and_come_in_both_forms(code: str, framing: Framing, tmp_path: Path) -> None:
    sent = [json.dumps({"n": number, "text": "é" * number * 100}, ensure_ascii=False).encode() for number in range(50)]
    async with running(tmp_path, code, framing) as server, anyio.create_task_group() as tasks:
        for message in sent:
            tasks.start_soon(server.send, message)
        assert sorted([await server.receive() for _ in sent]) == sorted(sent)
    assert gone(server.pid)


async def test_it_gets_no_environment_but_what_it_needs_and_what_was_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    monkeypatch.setenv("MCPGUARD_TOKEN", "canary")
    code = "import os, json; print(json.dumps([dict(os.environ), os.getcwd(), os.getsid(0) == os.getpid()]))"
    async with running(tmp_path, code, COLOUR="given") as server:
        got, folder, own_session = json.loads(await server.receive())
    assert got["COLOUR"] == "given"
    assert got["PATH"] == os.environ["PATH"]
    assert "canary" not in got.values()
    assert (Path(folder), own_session) == (tmp_path, True)


async def test_it_inherits_no_file_of_ours(tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        code = "import os; print([fd for fd in map(int, os.listdir('/proc/self/fd')) if fd > 3])"
        async with running(tmp_path, code) as server:
            assert json.loads(await server.receive()) == []


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("print('[' + '1' * 200000)", "longer than 100000"),
        ("pass", "process exited"),
        ("import os; os.write(1, b'{\"half\":')", "process exited"),
        ("import os; os.kill(os.getpid(), 9)", "process exited"),
    ],
)
async def test_what_cannot_be_understood_ends_the_connection_and_says_why(code: str, says: str, tmp_path: Path) -> None:
    async with running(tmp_path, code) as server:
        with pytest.raises(TransportEnded, match=says):
            await server.receive()
    assert gone(server.pid)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("Starting server...", "has fields other than"),
        ("Content-Length: 999999999", "longer than"),
        ("x" * 5000, "header"),
    ],
)
async def test_the_same_where_headers_are_spoken(said: str, says: str, tmp_path: Path) -> None:
    async with running(tmp_path, f"import os; os.write(1, b'{said}\\r\\n\\r\\n')", Framing.HEADERS) as server:
        with pytest.raises(TransportEnded, match=says):
            await server.receive()


async def test_a_server_that_closes_its_output_is_noticed_while_it_lives_on(tmp_path: Path) -> None:
    code = "import os, time; os.close(1); time.sleep(3600)"
    async with running(tmp_path, code, patience=StdioPatience(0.01, 0.01)) as server:
        with pytest.raises(TransportEnded, match="closed its output but is still running"):
            await server.receive()
        assert not gone(server.pid)


async def test_a_sender_that_is_cancelled_leaves_no_half_message(tmp_path: Path) -> None:
    """The server reads nothing at first, so the message gets stuck in the middle, and its sender gives up."""
    big = b"[" + b"1" * 3_000_000 + b"]"
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    async with running(tmp_path, LENGTHS_AFTER_GO) as server:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(server.send, big)
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
        await anyio.to_thread.run_sync(fifo.write_bytes, b"go")
        await server.send(b"{}")
        assert [json.loads(await server.receive()) for _ in range(2)] == [[len(big)], [2]]


async def test_what_it_said_before_still_counts(tmp_path: Path) -> None:
    async with running(tmp_path, "print('{}\\n[]\\n' + '[' * 200000, flush=True)") as server:
        assert [await server.receive(), await server.receive()] == [b"{}", b"[]"]
        with pytest.raises(TransportEnded):
            await server.receive()


async def test_a_server_that_is_gone_cannot_be_spoken_to(tmp_path: Path) -> None:
    async with running(tmp_path, "import sys; sys.stdin.close()") as server:
        with pytest.raises(TransportEnded):
            await server.receive()
        with pytest.raises(TransportEnded):
            await server.send(b"[" + b"1" * 5_000_000 + b"]")


async def test_one_that_reads_nothing_holds_up_its_own_callers_only(tmp_path: Path) -> None:
    sent = 0

    async def pour(server: Stdio) -> None:
        nonlocal sent
        while True:
            await server.send(b"[" + b"1" * 60_000 + b"]")
            sent += 1

    quick = StdioPatience(0.01, 0.01)
    async with (
        running(tmp_path, "import time; time.sleep(3600)", patience=quick) as stuck,
        running(tmp_path, ECHO) as other,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(pour, stuck)
        for _ in range(20):
            await other.send(b"{}")
            assert await other.receive() == b"{}"
        assert sent < 20
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    "stubborn",
    [
        "pass",
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    ],
    ids=["reads nothing", "ignores SIGTERM too"],
)
async def test_however_stubborn_it_and_its_children_are_gone_afterwards(stubborn: str, tmp_path: Path) -> None:
    code = f"""
import os, subprocess, sys, time
{stubborn}
deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(3600)"
child = subprocess.Popen([sys.executable, "-c", deaf])
print([child.pid], flush=True)
time.sleep(3600)
"""
    async with running(tmp_path, code, patience=StdioPatience(0.05, 0.05)) as server:
        (child,) = json.loads(await server.receive())
        assert not gone(child)
    assert gone(server.pid)
    until(lambda: gone(child), "its child is gone")


async def test_a_child_that_outlives_its_server_is_gone_too(tmp_path: Path) -> None:
    code = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], stdout=subprocess.DEVNULL)
print([child.pid], flush=True)
"""
    async with running(tmp_path, code) as server:
        (child,) = json.loads(await server.receive())
        with pytest.raises(TransportEnded):
            await server.receive()
    until(lambda: gone(child), "its child is gone")


async def test_a_child_that_has_left_the_group_is_gone_too(tmp_path: Path) -> None:
    code = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
print([child.pid], flush=True)
time.sleep(3600)
"""
    async with running(tmp_path, code, patience=StdioPatience(0.05, 0.05)) as server:
        (child,) = json.loads(await server.receive())
        assert not gone(child)
    assert gone(child), "and it was waited for"


async def test_what_it_is_handed_can_be_read_by_it_and_by_nobody_else(tmp_path: Path) -> None:
    code = "import sys; print([open(int(n)).read() for n in sys.argv[1:]].__repr__().replace(chr(39), chr(34)))"
    launch = ProcessLaunch(
        sys.executable, ("-c", code, SecretArgument(b"first"), SecretArgument(b"second" * 50_000)), {}, tmp_path
    )
    assert "first" not in repr(launch)
    async with stdio(launch, LIMIT * 10, UpstreamLog(tmp_path, "server", LIMIT)) as server:
        command = command_line(server.pid)
        assert not [name for name in open_files() if "memfd:handed" in name], "the guard keeps none of it open"
        assert json.loads(await server.receive()) == ["first", "second" * 50_000]
        assert "first" not in command


async def test_it_is_ended_when_the_block_is_cancelled_or_fails(tmp_path: Path) -> None:
    pids = []
    with anyio.CancelScope() as scope:
        async with running(tmp_path, ECHO) as server:
            pids.append(server.pid)
            scope.cancel()
            await server.receive()
    with pytest.raises(ExceptionGroup):  # noqa: PT012 - the block is the point
        async with running(tmp_path, ECHO) as server:
            pids.append(server.pid)
            raise ZeroDivisionError
    assert all(gone(pid) for pid in pids)


@pytest.mark.parametrize("command", ["/nonexistent/program", "/etc/passwd", "no-such-command", "with\0zero"])
async def test_what_cannot_be_started_is_told_in_a_sentence(command: str, tmp_path: Path) -> None:
    with pytest.raises(TransportEnded, match="cannot start "):
        async with stdio(
            ProcessLaunch(command, environment=environment(os.environ, {})), LIMIT, UpstreamLog(tmp_path, "x", 1)
        ):
            raise AssertionError


async def test_no_shell_reads_the_arguments(tmp_path: Path) -> None:
    launch = ProcessLaunch(
        sys.executable,
        ("-c", "import sys, json; print(json.dumps(sys.argv[1:]))", "; touch pwned", "$(touch pwned)", "`x`", "*"),
        environment(os.environ, {}),
        tmp_path,
    )
    async with stdio(launch, LIMIT, UpstreamLog(tmp_path, "server", LIMIT)) as server:
        assert json.loads(await server.receive()) == ["; touch pwned", "$(touch pwned)", "`x`", "*"]
    assert not (tmp_path / "pwned").exists()


async def test_what_it_writes_to_standard_error_is_kept_and_bounded(tmp_path: Path) -> None:
    code = """
import sys
for number in range(20000):
    print(f"line {number} \\x1b[31m", file=sys.stderr)
sys.stderr.flush()
print("{}", flush=True)
"""
    async with running(tmp_path, code) as server:
        assert await server.receive() == b"{}"
        with pytest.raises(TransportEnded):
            await server.receive()
    newest, older = tmp_path / "server.log", tmp_path / "server.log.1"
    assert newest.read_text().endswith("line 19999 ⟨U+001B⟩[31m\n")
    assert max(newest.stat().st_size, older.stat().st_size) <= LIMIT
    assert newest.stat().st_mode & 0o777 == 0o600


async def test_what_it_writes_while_it_is_ended_is_kept_too(tmp_path: Path) -> None:
    code = """
import sys
print("{}", flush=True)
sys.stdin.read()
for number in range(2000):
    print(f"line {number}", file=sys.stderr)
print("not ended", end="", file=sys.stderr)
"""
    async with running(tmp_path, code) as server:
        assert await server.receive() == b"{}"
    assert (tmp_path / "server.log").read_text().endswith("line 1998\nline 1999\nnot ended\n")
