"""Answers of a process that are handed over where they are read, and messages that are written where they are made."""

import json
import os
import select
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from mcpguard.upstreams.process.environment import environment
from mcpguard.upstreams.process.fair_reading import GO
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.stdio import CHUNK, ProcessLaunch, Stdio, stdio
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio
LIMIT = 100_000
SAY = """
import json, os, sys
for line in sys.stdin:
    for piece in json.loads(line):
        os.write(1, piece.encode())
        open("go").read()
"""
"""Writes each of the pieces that it is sent, and waits for the test after each."""
LENGTHS = """
import sys
open("go").read()
for line in sys.stdin.buffer:
    print("[%d]" % len(line.strip()), flush=True)
"""


class Spoken:
    """A process, and what of its output was handed over at once (`taken`) and what was received (`received`)."""

    def __init__(self, server: Stdio, go: Path) -> None:
        self.server = server
        self.taken: list[bytes] = []
        self.received: list[bytes] = []
        self.takes = True
        self._go = go
        self._moved = anyio.Event()
        server.at_once = self._take

    def _take(self, data: bytes) -> bool:
        takes = self.takes and data != b"\n"
        if takes:
            self.taken.append(data)
            self._moved.set()
        return takes

    async def receive(self) -> None:
        while True:
            self.received.append(await self.server.receive())
            self._moved.set()

    async def go(self) -> None:
        """Let the process write on, once all that it has written was read: the next piece is read by itself."""
        # It has written when it opens the other end.
        go = await anyio.to_thread.run_sync(os.open, self._go, os.O_WRONLY)
        while select.select([self.server._child.output], [], [], 0)[0]:
            await anyio.lowlevel.checkpoint()
        os.write(go, b"go")
        os.close(go)

    def has_room_after_go(self) -> None:
        """Let the process read, and wait until it has, while nobody here can write on."""
        self._go.write_bytes(b"go")
        room = select.poll()
        room.register(self.server._child.input, select.POLLOUT)
        assert room.poll(PATIENCE * 1000)

    async def until(self, count: int) -> None:
        """Wait until so many messages have come in either way."""
        with anyio.fail_after(PATIENCE):
            while len(self.taken) + len(self.received) < count:
                self._moved = anyio.Event()
                await self._moved.wait()


@asynccontextmanager
async def spoken(folder: Path, code: str = SAY) -> AsyncIterator[Spoken]:
    """A process that is listened to."""
    os.mkfifo(folder / "go")
    launch = ProcessLaunch(sys.executable, ("-u", "-c", code), environment(os.environ, {}), folder)
    async with stdio(launch, LIMIT, UpstreamLog(folder, "server", LIMIT)) as server, anyio.create_task_group() as tasks:
        found = Spoken(server, folder / "go")
        tasks.start_soon(found.receive)
        yield found
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("pieces", [['{"id":1}\n', '{"id":2}\n'], ['{"id":1}\n{"id":2}\n']])
async def test_answers_that_are_whole_lines_wake_nobody_but_who_asked(pieces: list[str], tmp_path: Path) -> None:
    async with spoken(tmp_path) as found:
        await anyio.wait_all_tasks_blocked()
        assert found.server.put(json.dumps(pieces).encode())
        for _ in pieces:
            await found.go()
        await found.until(2)
        assert (found.taken, found.received) == ([b'{"id":1}\n', b'{"id":2}\n'], [])


@pytest.mark.parametrize(
    "pieces",
    [
        ['{"id"', ':1}\n{"id":2}\n'],
        ['{"id":1}\n{"id"', ":2}\n"],
        ['{"method":"x"}\n', '{"method":"y"}\n'],
        ['{"id":1,"text":["method"]}\n', '\n{"id":2}\n'],
        ['{"id":1,"long":"' + "x" * 20_000 + '"}\n{"id":2}\n'],
    ],
    ids=["a beginning", "an end", "no answers", "may be no answer, and a blank line", "a long one"],
)
async def test_whatever_else_comes_is_received_in_its_order(pieces: list[str], tmp_path: Path) -> None:
    async with spoken(tmp_path) as found:
        await anyio.wait_all_tasks_blocked()
        assert found.server.put(json.dumps(pieces).encode())
        for _ in pieces:
            await found.go()
        await found.until(2)
        said = [line.encode() for line in "".join(pieces).split("\n") if line]
        assert (found.received, found.taken) == (said, [])


async def test_what_follows_an_answer_is_received_from_the_first_message_on_that_is_none(tmp_path: Path) -> None:
    async with spoken(tmp_path) as found:
        take = found._take
        found.server.at_once = lambda data: data != b'{"id":2}\n' and take(data)
        await anyio.wait_all_tasks_blocked()
        assert found.server.put(json.dumps(['{"id":1}\n{"id":2}\n{"id":3}\n']).encode())
        await found.go()
        await found.until(3)
        assert (found.taken, found.received) == ([b'{"id":1}\n'], [b'{"id":2}', b'{"id":3}'])


async def test_what_nobody_wants_at_once_is_received(tmp_path: Path) -> None:
    async with spoken(tmp_path) as found:
        await anyio.wait_all_tasks_blocked()
        found.takes = False
        assert found.server.put(b'["{\\"id\\":1}\\n"]')
        await found.until(1)
        assert found.received == [b'{"id":1}']


async def test_what_is_over_the_share_of_a_server_is_not_handed_over_at_once(tmp_path: Path) -> None:
    """It is received by the task that waits before it reads on."""

    def busy(data: bytes) -> bool:
        end = time.thread_time() + 500 * GO
        while time.thread_time() < end:
            pass
        return take(data)

    filling = '{"id":1,"text":"' + "x" * (CHUNK - 19) + '"}\n'
    assert len(filling) == CHUNK, "the next line is read by itself"
    async with spoken(tmp_path) as found:
        take, found.server.at_once = found._take, busy
        await anyio.wait_all_tasks_blocked()
        assert found.server.put(json.dumps([filling + '{"id":2}\n']).encode())
        await found.until(2)
        assert (len(found.taken), found.received) == (1, [b'{"id":2}'])


async def test_a_message_that_does_not_fit_is_written_whole_before_the_next_one(tmp_path: Path) -> None:
    big = b"[" + b"1" * 3_000_000 + b"]"
    async with spoken(tmp_path, LENGTHS) as found:
        assert found.server.put(big), "the pipe takes some of it, and the rest is kept"
        found.has_room_after_go()
        assert not found.server.put(b"{}"), "that would be read as its rest"
        await found.server.send(b"{}")
        await found.until(2)
        assert [json.loads(each) for each in (*found.taken, *found.received)] == [[len(big)], [2]]


async def test_a_process_that_has_closed_its_input_takes_nothing(tmp_path: Path) -> None:
    async with spoken(tmp_path, "import os, sys\nos.close(0)\nos.write(1, b'[]\\n')\nopen('go').read()") as found:
        await found.until(1)
        assert not found.server.put(b"{}")
