"""A server as a child process that speaks on its standard streams.

Rules kept here:
1. It gets a session and process group of its own, no terminal, no file of ours, and the environment of `environment`.
2. What it says is bounded: a message by its length, its standard error by the log. A message that it does not finish,
   or that cannot be understood, ends the connection and nothing else; what it said before that still counts.
3. It is ended whatever happens: first asked by the end of its input, then by SIGTERM, then killed, and with it
   everything in its group. Only then does the block that started it end.
"""

import os
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import structlog

from mcpguard.codec.framing import Decoder, Framing, FramingError, encode
from mcpguard.upstreams.logs import UpstreamLog
from mcpguard.upstreams.transports.child import Child, Ended, Outgoing, read
from mcpguard.upstreams.transports.transport import TransportEnded

CHUNK = 65_536
log = structlog.get_logger("mcpguard.upstreams")


@dataclass(frozen=True, slots=True)
class Launch:
    """How a server is started. No shell reads it: the arguments reach the program as they stand."""

    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    framing: Framing = Framing.LINES


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server is given to end by itself after its input has ended, and after SIGTERM (seconds)."""

    input_ended: float = 2.0
    terminated: float = 2.0


class Stdio:
    """Messages to and from a child process."""

    def __init__(self, child: Child, outgoing: Outgoing, decoder: Decoder, framing: Framing) -> None:
        self.pid = child.pid
        self._child = child
        self._outgoing = outgoing
        self._decoder = decoder
        self._framing = framing
        self._found: Iterator[bytes] = iter(())

    async def send(self, message: bytes) -> None:
        try:
            await self._outgoing.put(encode(message, self._framing))
        except Ended as error:
            raise TransportEnded("the server has closed its input") from error

    async def receive(self) -> bytes:
        while True:
            try:
                for message in self._found:
                    return message
                self._found = self._decoder.feed(await read(self._child.output, CHUNK))
            except FramingError as error:
                raise TransportEnded(f"what the server says cannot be understood: {error}") from error
            except Ended as error:
                raise TransportEnded("the server has ended") from error


@asynccontextmanager
async def stdio(
    launch: Launch, limit: int, errors: UpstreamLog, patience: Patience | None = None
) -> AsyncIterator[Stdio]:
    """A running server. However the block is left, its process group is gone when it is."""
    child = _start(launch)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_end, child, patience or Patience())
        tasks = await stack.enter_async_context(anyio.create_task_group())
        outgoing = Outgoing(child.input)
        tasks.start_soon(outgoing.run, name=f"input of process {child.pid}")
        tasks.start_soon(_keep_errors, child, errors, name=f"errors of process {child.pid}")
        stack.callback(tasks.cancel_scope.cancel)
        yield Stdio(child, outgoing, Decoder(limit, launch.framing), launch.framing)


def _start(launch: Launch) -> Child:
    try:
        return Child([launch.command, *launch.arguments], launch.environment, launch.folder)
    except (OSError, ValueError) as error:
        raise TransportEnded(f"{launch.command} cannot be started: {error}") from error


async def _keep_errors(child: Child, errors: UpstreamLog) -> None:
    try:
        with suppress(Ended):
            while True:
                errors.write(await read(child.errors, CHUNK))
    finally:
        errors.close()


async def _end(child: Child, patience: Patience) -> None:
    with anyio.CancelScope(shield=True):
        child.close_input()
        with anyio.move_on_after(patience.input_ended):
            await child.wait()
        _signal_group(child.pid, signal.SIGTERM)
        with anyio.move_on_after(patience.terminated):
            await child.wait()
        _signal_group(child.pid, signal.SIGKILL)
        await child.wait()
        child.close()
        log.debug("upstream.ended", process=child.pid, code=child.code)


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
