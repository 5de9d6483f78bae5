"""A server that runs as a child process and communicates over its standard streams.

Rules kept here:
1. The process gets a new session and process group, no terminal, no open file of the guard, and the environment of
   `environment`.
2. Its output is bounded: a message by its length, its standard error by the log. A message that is incomplete or cannot
   be parsed ends the connection and nothing else; the messages before it still count.
3. However much it writes, reading it never starves other servers (`fair_reading`).
4. The connection ends with the process, even where a process that it started holds its output open.
5. The process is always ended: its input is closed, then it gets SIGTERM, then SIGKILL, and with it everything in its
   group and all its descendants. Only then does the block that started it end.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
import structlog

from mcpguard.codec.framing import Decoder, Framing, FramingError, encode
from mcpguard.text.visible import visible
from mcpguard.upstreams.exchange.transport import SAID_LAST, NeverBegun, TransportEnded
from mcpguard.upstreams.process.child import Child, Outgoing, PipeClosed
from mcpguard.upstreams.process.fair_reading import GIVEN_BACK, GO, Share
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.process_end import MOMENT, StdioPatience, end_process
from mcpguard.upstreams.process.secret_arguments import Word

CHUNK = 16_384
ERRORS_CHUNK = 4096
SILENT: Final = "the server closed its output but is still running"
LEFT_BEHIND = 1_048_576
"""Bytes read at most after the process has ended: as much as a pipe can hold."""
LAST_WORDS = 200
log = structlog.get_logger("mcpguard.upstreams")


@dataclass(frozen=True, slots=True)
class ProcessLaunch:
    """How a process is started. No shell is involved: the arguments reach the program unchanged.

    `umask` is the mask for files that it creates; None is the guard's own.
    """

    command: str
    arguments: tuple[Word, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: Path | None = None
    framing: Framing = Framing.LINES
    umask: int | None = None


class Stdio:
    """Carries messages to and from a child process."""

    def __init__(
        self, child: Child, outgoing: Outgoing, launch: ProcessLaunch, limit: int, errors: UpstreamLog
    ) -> None:
        self.pid = child.pid
        self.at_once: Callable[[bytes], bool] | None = None
        self._child = child
        self._outgoing = outgoing
        self._launch = launch
        self._decoder = Decoder(limit, launch.framing)
        self._found: Iterator[bytes] = iter(())
        self._share = Share()
        self._coming: asyncio.Future[bytes] | None = None
        self._spent = self._since = 0.0
        self._errors = errors
        self._last_error = b""
        self._all_errors = anyio.Event()
        self._gone = anyio.Event()
        self._reading = anyio.CancelScope()
        self._left = LEFT_BEHIND

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._gone.is_set()

    def put(self, message: bytes) -> bool:
        """Write a line at once, if nothing has to be written before it. See `MessageTransport`."""
        outgoing = self._outgoing
        if outgoing.left or outgoing.is_over or self._decoder.framing is not Framing.LINES:
            return False
        try:
            written = os.write(self._child.input, line := message + b"\n")
        except OSError:  # it is full or closed: `send` finds out which
            return False
        if written < len(line):
            try:
                outgoing.add(line[written:])
            except PipeClosed as error:
                raise TransportEnded("the server has closed its input") from error
        return True

    async def send(self, message: bytes) -> None:
        try:
            self._outgoing.add(encode(message, self._launch.framing))
            if self._outgoing.is_full:
                await self._outgoing.wait_for_room()
        except PipeClosed as error:
            raise TransportEnded(await self._how_it_ended("the server has closed its input")) from error

    def charge_nothing(self) -> None:
        """Charge the process with nothing of the work that the guard has done until now: it was the guard's own."""
        self._share.begin()

    async def receive(self) -> bytes:
        while True:
            await self._share.give_way()
            try:
                for message in self._found:
                    return message
                self._found = self._decoder.feed(await self._more())
            except FramingError as error:
                raise TransportEnded(f"the server's output is not valid MCP: {error}") from error
            except PipeClosed as error:
                raise TransportEnded(await self._how_it_ended(SILENT)) from error

    async def watch(self) -> None:
        """Wait for the end of the process, and end reading then."""
        await self._child.wait()
        # First the flag, then the cancellation: whoever reads finds out that the process is gone when it is woken.
        # Waiting for the end of the output would not do, as a process that the server started may hold it open.
        self._gone.set()
        self._reading.cancel()

    async def keep_errors(self) -> None:
        """Write the server's standard error to its log, until that ends."""
        share = Share()
        try:
            with suppress(PipeClosed):
                while True:
                    data = await share.read(self._child.errors, ERRORS_CHUNK)
                    self._errors.write(data)
                    self._last_error = (self._last_error + data)[-ERRORS_CHUNK:]
            self._errors.close()
        finally:
            self._all_errors.set()

    def end(self) -> None:
        """Read no more, and log what the server wrote to its standard error just before its end: often the reason."""
        # Before its descriptor is closed: the number may belong to another file a moment later.
        self._stop(PipeClosed())
        left = LEFT_BEHIND
        with suppress(OSError):  # the pipe is empty
            while left > 0 and (data := os.read(self._child.errors, ERRORS_CHUNK)):
                self._errors.write(data)
                left -= len(data)
        self._errors.close()

    async def _more(self) -> bytes:
        """Return the next bytes of the server's output. Raises PipeClosed."""
        while not self._gone.is_set():
            with anyio.CancelScope() as self._reading:
                return await self._next()
        # Only what the pipe held when the process ended: whoever goes on writing there is not the server.
        try:
            data = os.read(self._child.output, min(CHUNK, self._left))
        except OSError as error:
            raise PipeClosed from error
        if not data:
            raise PipeClosed
        self._left -= len(data)
        return data

    async def _next(self) -> bytes:
        """Return what comes next. Answers that come whole while this waits are handed over at once instead."""
        await self._share.give_way()
        with suppress(BlockingIOError):
            return _read(self._child.output)
        loop = asyncio.get_running_loop()
        self._coming = coming = loop.create_future()
        loop.add_reader(self._child.output, self._take)
        try:
            data: bytes = await coming
        finally:
            self._stop(PipeClosed())
        self._share.begin()
        self._share.owe(self._spent)
        self._spent = 0.0
        return data

    def _take(self) -> None:
        """Read what has come. Whole lines that are answers, as they nearly always are, wake nobody but their calls."""
        coming, began = self._coming, time.thread_time()
        if coming is None or coming.done() or self._gone.is_set():
            return
        try:
            data = os.read(self._child.output, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            # Idle time gives back what was spent on this server, as in `fair_reading`.
            self._spent = max(0.0, self._spent - (time.monotonic() - self._since) / GIVEN_BACK)
            if (
                self.at_once is not None
                and self._spent <= GO
                and not self._decoder.held
                and data.endswith(b"\n")
                and self._decoder.framing is Framing.LINES
                and b'"method"' not in data
            ):
                at = 0
                while at < len(data) and self.at_once(data[at : (end := data.index(b"\n", at) + 1)]):
                    at = end
                data = data[at:]
                self._since = time.monotonic()
                self._spent += time.thread_time() - began
                if not data:
                    return
            coming.set_result(data)
        else:
            coming.set_exception(PipeClosed())
        self._stop()

    def _stop(self, error: Exception | None = None) -> None:
        """Read no more until somebody waits again."""
        coming, self._coming = self._coming, None
        if coming is not None:
            coming.get_loop().remove_reader(self._child.output)
            if error is not None and not coming.done():
                coming.set_exception(error)

    async def _how_it_ended(self, otherwise: str) -> str:
        """Return how the process ended; `otherwise` where it goes on."""
        with anyio.move_on_after(MOMENT):
            await self._gone.wait()
            await self._all_errors.wait()
        if not self._gone.is_set():
            return otherwise
        said = f"the server process exited ({_code(self._child.code)}); log: {self._errors.path}"
        return f"{said}{SAID_LAST}{words}" if (words := self._last_words()) else said

    def _last_words(self) -> str:
        """Return the last line of its standard error, with secrets masked."""
        said = self._errors.hiding.hide_alone(self._last_error.decode(errors="replace"))
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        return visible(lines[-1][:LAST_WORDS]) if lines else ""


@asynccontextmanager
async def stdio(
    launch: ProcessLaunch, limit: int, errors: UpstreamLog, patience: StdioPatience | None = None
) -> AsyncIterator[Stdio]:
    """Run a server for the length of the block. However the block is left, the process group is gone afterwards."""
    child = start_process(launch)
    outgoing = Outgoing(child.input)
    server = Stdio(child, outgoing, launch, limit, errors)
    async with AsyncExitStack() as stack:
        # Registered first: whatever fails from here on, the process is ended.
        stack.push_async_callback(end_process, child, patience or StdioPatience(), server.end)
        tasks = await stack.enter_async_context(anyio.create_task_group())
        tasks.start_soon(outgoing.run, name=f"input of process {child.pid}")
        tasks.start_soon(server.keep_errors, name=f"errors of process {child.pid}")
        tasks.start_soon(server.watch, name=f"end of process {child.pid}")
        stack.callback(tasks.cancel_scope.cancel)
        yield server


def start_process(launch: ProcessLaunch) -> Child:
    """Start a process. The caller has to call `end_process` for it. Raises NeverBegun."""
    try:
        return Child([launch.command, *launch.arguments], launch.environment, launch.folder, launch.umask)
    except OSError as error:
        about = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
        raise NeverBegun(f"cannot start {launch.command}: {about}") from error
    except ValueError as error:
        raise NeverBegun(f"cannot start {launch.command}: {error}") from error


def _read(pipe: int) -> bytes:
    """Return what has come. Raises BlockingIOError if nothing has, and PipeClosed at the end."""
    try:
        data = os.read(pipe, CHUNK)
    except BlockingIOError:
        raise
    except OSError as error:
        raise PipeClosed from error
    if not data:
        raise PipeClosed
    return data


def _code(code: int | None) -> str:
    if code is not None and code < 0:
        return f"by signal {-code}"
    return f"exit code {code}"
