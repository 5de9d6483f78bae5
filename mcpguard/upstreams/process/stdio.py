"""A server as a child process that speaks on its standard streams.

Rules kept here:
1. It gets a session and process group of its own, no terminal, no file of ours, and the environment of `environment`.
2. What it says is bounded: a message by its length, its standard error by the log. A message that it does not finish,
   or that cannot be understood, ends the connection and nothing else; what it said before that still counts.
3. However much it says, reading it never keeps the others waiting (`sharing`).
4. The end of the process is the end of the connection, also where something that it started holds its output open.
5. It is ended whatever happens: first asked by the end of its input, then by SIGTERM, then killed, and with it
   everything in its group and everything that descends from it. Only then does the block that started it end.
"""

import math
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import structlog

from mcpguard.codec.framing import Decoder, Framing, FramingError, encode
from mcpguard.text.visible import visible
from mcpguard.upstreams.exchange.transport import SAID_LAST, NeverBegun, TransportEnded
from mcpguard.upstreams.process.child import Child, Outgoing, PipeClosed
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.secret_arguments import Word
from mcpguard.upstreams.process.sharing import Share
from mcpguard.upstreams.process.tree import Descendants

CHUNK = 16_384
ERRORS_CHUNK = 4096
LEFT_BEHIND = 1_048_576
"""The most that is read after the process has ended: as much as a pipe can hold."""
LAST_WORDS = 200
MOMENT = 0.5
log = structlog.get_logger("mcpguard.upstreams")


@dataclass(frozen=True, slots=True)
class Launch:
    """How a server is started. No shell reads it: the arguments reach the program as they stand.

    `umask`: what is taken away from the modes of the files that it makes; None is the guard's own.
    """

    command: str
    arguments: tuple[Word, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: Path | None = None
    framing: Framing = Framing.LINES
    umask: int | None = None


@dataclass(frozen=True, slots=True)
class StdioPatience:
    """How long a server is given to end by itself after its input has ended, and after SIGTERM (seconds)."""

    input_ended: float = 2.0
    terminated: float = 2.0


class Stdio:
    """Messages to and from a child process."""

    def __init__(self, child: Child, outgoing: Outgoing, launch: Launch, limit: int, errors: UpstreamLog) -> None:
        self.pid = child.pid
        self._child = child
        self._outgoing = outgoing
        self._launch = launch
        self._decoder = Decoder(limit, launch.framing)
        self._found: Iterator[bytes] = iter(())
        self._share = Share()
        self._errors = errors
        self._last_error = b""
        self._all_errors = anyio.Event()
        self._gone = anyio.Event()
        self._reading = anyio.CancelScope()
        self._left = LEFT_BEHIND

    async def send(self, message: bytes) -> None:
        try:
            await self._outgoing.put(encode(message, self._launch.framing))
        except PipeClosed as error:
            raise TransportEnded("the server has closed its input") from error

    async def receive(self) -> bytes:
        while True:
            await self._share.give_way()
            try:
                for message in self._found:
                    return message
                self._found = self._decoder.feed(await self._more())
            except FramingError as error:
                raise TransportEnded(f"what the server says cannot be understood: {error}") from error
            except PipeClosed as error:
                raise TransportEnded(await self._how_it_ended()) from error

    async def watch(self) -> None:
        """Notice the end of the process."""
        await self._child.wait()
        self._gone.set()
        self._reading.cancel()

    async def keep_errors(self) -> None:
        """Put what it writes to its standard error into the log."""
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

    def keep_last_errors(self) -> None:
        """What it wrote there before its end and nobody has read: often why it ended."""
        left = LEFT_BEHIND
        with suppress(OSError):  # nothing more is there
            while left > 0 and (data := os.read(self._child.errors, ERRORS_CHUNK)):
                self._errors.write(data)
                left -= len(data)
        self._errors.close()

    async def _more(self) -> bytes:
        """What it says next. Raises PipeClosed."""
        while not self._gone.is_set():
            with anyio.CancelScope() as self._reading:
                return await self._share.read(self._child.output, CHUNK)
        try:  # what it said before its end; whoever goes on writing there is not the server
            data = os.read(self._child.output, min(CHUNK, self._left))
        except OSError as error:
            raise PipeClosed from error
        if not data:
            raise PipeClosed
        self._left -= len(data)
        return data

    async def _how_it_ended(self) -> str:
        with anyio.move_on_after(MOMENT):
            await self._gone.wait()
            await self._all_errors.wait()
        if not self._gone.is_set():
            return "the output of the server has ended, though it is still running"
        said = f"the server has ended ({_code(self._child.code)}); see {self._errors.path}"
        return f"{said}{SAID_LAST}{words}" if (words := self._last_words()) else said

    def _last_words(self) -> str:
        """The last line of its standard error, without what may be a secret."""
        said = self._errors.hiding.again(self._last_error.decode(errors="replace"))
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        return visible(lines[-1][:LAST_WORDS]) if lines else ""


@asynccontextmanager
async def stdio(
    launch: Launch, limit: int, errors: UpstreamLog, patience: StdioPatience | None = None
) -> AsyncIterator[Stdio]:
    """A running server. However the block is left, its process group is gone when it is."""
    child = begun(launch)
    outgoing = Outgoing(child.input)
    server = Stdio(child, outgoing, launch, limit, errors)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(ended, child, patience or StdioPatience(), server.keep_last_errors)
        tasks = await stack.enter_async_context(anyio.create_task_group())
        tasks.start_soon(outgoing.run, name=f"input of process {child.pid}")
        tasks.start_soon(server.keep_errors, name=f"errors of process {child.pid}")
        tasks.start_soon(server.watch, name=f"end of process {child.pid}")
        stack.callback(tasks.cancel_scope.cancel)
        yield server


def begun(launch: Launch) -> Child:
    """Its process. Whoever starts one has to see to it that it is `ended`. Raises NeverBegun."""
    try:
        return Child([launch.command, *launch.arguments], launch.environment, launch.folder, launch.umask)
    except OSError as error:
        about = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
        raise NeverBegun(f"{launch.command} cannot be started: {about}") from error
    except ValueError as error:
        raise NeverBegun(f"{launch.command} cannot be started: {error}") from error


async def ended(child: Child, patience: StdioPatience, last: Callable[[], None] = lambda: None) -> None:
    """Once nothing is left of it, of its group and of what descends from it. `last` is done before its pipes close."""
    with anyio.CancelScope(shield=True), Descendants(child.pid) as below:
        try:
            _look(child, below)  # when it has ended, nobody can tell any more what it started
            child.close_input()
            await _ended_within(child, patience.input_ended)
            _look(child, below)
            _signal_group(child.pid, signal.SIGTERM)
            await _ended_within(child, patience.terminated)
        finally:
            _look(child, below)
            _signal_group(child.pid, signal.SIGKILL)
            below.kill()
            try:
                await _ended_within(child, math.inf)
                await below.ended(MOMENT)
            finally:
                last()
                child.close()
        log.debug("upstream.ended", process=child.pid, code=child.code)


def _look(child: Child, below: Descendants) -> None:
    if child.code is None:  # else the number may be another's by now
        below.look()


async def _ended_within(child: Child, seconds: float) -> None:
    if child.code is None:  # else the number may be another's by now
        with anyio.move_on_after(seconds):
            await child.wait()


def _code(code: int | None) -> str:
    if code is not None and code < 0:
        return f"by signal {-code}"
    return f"exit code {code}"


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
