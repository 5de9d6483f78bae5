"""The test's side of a server process: which plays the test's own script, and does what it is told.

    async with controlled(script, tmp_path) as server:
        launch = Launch(server.command, server.arguments)
        ...
        process = await server.started()
        await process.exit(3)

Every start of the command is a `Process` of its own; the script stays, as a server's data on the disk would.
"""

import json
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import SocketStream, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.simulators import over_stdio
from tests.simulators.over_stdio import HEAD
from tests.simulators.script import Script
from tests.simulators.spoken import Spoken
from tests.simulators.words import Json

LONGEST_PATH = 100  # of a socket, in bytes
AHEAD = 64
"""How many messages may be on their way to the process's output."""


class Process:
    """One run of the command."""

    def __init__(self, stream: SocketStream, hello: Json) -> None:
        self.pid: int = hello["pid"]  # as the process sees it: in a sandbox it may be another than ours
        self.arguments: list[str] = hello.get("arguments", [])
        self.heard = bytearray()  # everything that came on its standard input
        self.input_ended = anyio.Event()
        self.ended = anyio.Event()
        self.unsaid: list[str] = []  # why it could not write
        self._stream = stream
        self._turn = anyio.Lock()
        self._sent = self._done = 0
        self._changed = anyio.Event()

    async def write(self, data: bytes) -> None:
        """Write to its standard output, whatever it is. Returns when it is written, or the process is gone."""
        await self._send(b"w", data)

    async def say(self, data: bytes) -> None:
        """Write without waiting for each message, so that a flood is one. Order is kept."""
        await self._send(b"w", data, ahead=AHEAD)

    async def garbage(self, line: bytes = b"this is no message") -> None:
        await self.write(line + b"\n")

    async def huge_line(self, size: int = 20_000_000) -> None:
        """One line that does not end before it is so long."""
        await self.write(b'{"jsonrpc":"2.0","method":"' + b"x" * size + b'"}\n')

    async def exit(self, code: int = 1) -> None:
        await self._order(do="exit", code=code)

    async def die(self, number: int = 9) -> None:
        """End by a signal that it sends itself."""
        await self._order(do="die", number=number)

    async def close_output(self) -> None:
        await self._order(do="close", descriptor=1)

    async def close_errors(self) -> None:
        await self._order(do="close", descriptor=2)

    async def stubborn(self) -> None:
        """Stay when the input ends, and at SIGTERM: only SIGKILL ends it."""
        await self._order(do="stubborn")

    async def reading(self, *, on: bool) -> None:
        """Stop reading the standard input, so that the pipe fills up; or go on."""
        await self._order(do="reading", on=on)

    async def complain(self, size: int) -> None:
        """Write so many bytes to its standard error."""
        await self._order(do="complain", size=size)

    async def grandchild(self) -> None:
        """Leave a process behind, in a session of its own, that holds the streams open. See `Controlled.grandchild`."""
        await self._order(do="grandchild")

    async def _order(self, **order: object) -> None:
        await self._send(b"o", json.dumps(order).encode())

    async def _send(self, kind: bytes, data: bytes, ahead: int = 0) -> None:
        async with self._turn:
            try:
                await self._stream.send(HEAD.pack(kind, len(data)) + data)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return
            self._sent += 1
            number = self._sent
        while self._done < number - ahead and not self.ended.is_set():
            await self._changed.wait()

    def done(self) -> None:
        self._done += 1
        self._wake()

    def end(self) -> None:
        self.input_ended.set()
        self.ended.set()
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class Controlled:
    """The command that starts the process, and every process that was started with it."""

    def __init__(self, script: Script, path: Path) -> None:
        self.script = script
        self.command = sys.executable
        self.arguments: tuple[str, ...] = ("-I", "-S", over_stdio.__file__, "--control", str(path))
        self.path = path
        self.processes: list[Process] = []
        self.grandchildren: list[Process] = []

    @property
    def process(self) -> Process:
        """The one that was started last."""
        return self.processes[-1]

    async def started(self, count: int = 1) -> Process:
        """Wait until the command was started that often."""
        await self.script.until(lambda: len(self.processes) >= count)
        return self.processes[count - 1]

    async def grandchild(self, count: int = 1) -> Process:
        """Wait until that many were left behind. `ended` says when one is gone."""
        await self.script.until(lambda: len(self.grandchildren) >= count)
        return self.grandchildren[count - 1]

    async def take(self, stream: SocketStream) -> None:
        """One connection, from the first word of a process to its end."""
        async with stream:
            source = BufferedByteReceiveStream(stream)
            kind, data = await _next(source)
            process = Process(stream, json.loads(data))
            (self.grandchildren if kind == b"g" else self.processes).append(process)
            self.script.changed()
            try:
                async with anyio.create_task_group() as tasks:
                    await self._play(process, source, tasks)
                    tasks.cancel_scope.cancel()
            finally:
                process.end()
                self.script.changed()

    async def _play(self, process: Process, source: BufferedByteReceiveStream, tasks: TaskGroup) -> None:
        with Spoken(self.script, tasks, process.say, process.exit) as spoken:
            while True:
                try:
                    kind, data = await _next(source)
                except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError):
                    return
                match kind:
                    case b"r":
                        process.heard += data
                        spoken.feed(data)
                    case b"e":
                        process.input_ended.set()
                    case b"d":
                        process.done()
                    case _:
                        process.unsaid.append(data.decode())


async def _next(source: BufferedByteReceiveStream) -> tuple[bytes, bytes]:
    kind, length = HEAD.unpack(await source.receive_exactly(HEAD.size))
    return kind, await source.receive_exactly(length) if length else b""


@asynccontextmanager
async def controlled(script: Script, folder: Path) -> AsyncIterator[Controlled]:
    """A command that plays the script when it is started. Everything that it started ends with the block."""
    with ExitStack() as stack:
        path = folder / "control.sock"
        if len(str(path).encode()) > LONGEST_PATH:
            path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mcpguard"))) / "control.sock"
        async with await anyio.create_unix_listener(path) as listener, anyio.create_task_group() as tasks:
            server = Controlled(script, path)
            tasks.start_soon(listener.serve, server.take, name="control socket")
            yield server
            tasks.cancel_scope.cancel()
