"""A child process and its three pipes, for an event loop.

The guard does not start processes through uvloop, which leaves descriptors of the guard open in the child (its
`close_fds` does nothing, and each standard stream is there twice): a server could keep the guard's descriptors, and the
end of its output would go unnoticed.
"""

import os
import subprocess
import sys
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import IO

import anyio
import structlog
from anyio import CapacityLimiter, to_thread

from mcpguard.upstreams.process.secret_arguments import Word, open_arguments

HIGH_WATER = 1_048_576
RUNNING: set[int] = set()
"""The processes that were started here and have not been closed yet."""
log = structlog.get_logger("mcpguard.upstreams")


class PipeClosed(Exception):
    """The other end of the pipe is closed."""


class Child:
    """A process in a session and process group of its own."""

    def __init__(
        self,
        command: Sequence[Word],
        environment: Mapping[str, str],
        folder: Path | None = None,
        umask: int | None = None,
    ) -> None:
        with open_arguments(command) as (words, descriptors):
            self._process = subprocess.Popen(  # noqa: S603 - starting what was approved is what we are for
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                # Without this the server would inherit the database, the listeners and the pipes of every other server.
                close_fds=True,
                pass_fds=descriptors,
                cwd=folder,
                env=environment,
                # Its own session: a signal for the guard's terminal (Ctrl-C) must not reach it before it was asked to
                # end.
                start_new_session=True,
                umask=-1 if umask is None else umask,
            )
        self.pid = self._process.pid
        RUNNING.add(self.pid)
        self.input = _number(self._process.stdin)
        self.output = _number(self._process.stdout)
        self.errors = _number(self._process.stderr)
        for pipe in (self.input, self.output, self.errors):
            # A blocking pipe would stop the whole event loop when a server reads or writes slowly.
            os.set_blocking(pipe, False)

    @property
    def code(self) -> int | None:
        """The exit code, once the process has been waited for."""
        return self._process.returncode

    async def wait(self) -> None:
        """Return once the process has ended. Others may still hold its pipes open."""
        if sys.platform == "linux":
            try:
                await _readable_pidfd(self.pid)
            except ProcessLookupError:
                log.debug("upstream.waited_for", process=self.pid)
            except OSError:  # this kernel has no pidfd, or no descriptor is left
                await self._wait_aside()
            self._process.wait()
        else:
            await self._wait_aside()

    async def _wait_aside(self) -> None:
        await to_thread.run_sync(self._process.wait, abandon_on_cancel=True, limiter=CapacityLimiter(1))

    def close_input(self) -> None:
        """Close the child's standard input, so that it reads the end of its input."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            # Woken before the descriptor is closed: its number may belong to another file a moment later, and whoever
            # still waits for it would write there.
            anyio.notify_closing(self.input)
            self._process.stdin.close()

    def close(self) -> None:
        # Only after the process was waited for: the sweep of orphans would reap it otherwise, and its exit code be
        # lost.
        RUNNING.discard(self.pid)
        self.close_input()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None and not pipe.closed:
                anyio.notify_closing(pipe)
                pipe.close()


async def read(pipe: int, size: int) -> bytes:
    """Return what has come, at least one byte. Raises PipeClosed at the end."""
    while True:
        try:
            data = os.read(pipe, size)
        except BlockingIOError:
            await _ready(anyio.wait_readable(pipe))
        except OSError as error:
            raise PipeClosed from error
        else:
            if not data:
                raise PipeClosed
            return data


class Outgoing:
    """The bytes on their way into a pipe.

    A cancelled sender must not leave half a message in the pipe, or the next message would be read as its rest. So
    whatever was taken is written by `run`, a task of its own. Senders wait while too much is on its way.
    """

    def __init__(self, pipe: int) -> None:
        self.left = bytearray()
        """The bytes that are not written yet: whatever is written has to follow them."""
        self.is_over = False
        self._pipe = pipe
        self._more = anyio.Event()
        self._less = anyio.Event()

    def add(self, data: bytes) -> None:
        """Take all of `data`. Raises PipeClosed when it cannot be written."""
        # Nothing is awaited: the message is now sent whole or not at all, even if this caller is cancelled.
        self.left += data
        self._write()
        if self.is_over:
            raise PipeClosed

    @property
    def is_full(self) -> bool:
        """Whether so much is on its way that senders have to wait."""
        return len(self.left) > HIGH_WATER

    async def wait_for_room(self) -> None:
        """Wait until less is on its way. Raises PipeClosed when it cannot be written."""
        while self.is_full and not self.is_over:
            await self._less.wait()
        if self.is_over:
            raise PipeClosed

    async def run(self) -> None:
        try:
            while not self.is_over:
                self._more = anyio.Event()
                if not self.left:
                    await self._more.wait()
                try:
                    await _ready(anyio.wait_writable(self._pipe))
                except PipeClosed:
                    self._end()
                self._write()
        finally:
            self._end()  # nothing is written any more, so whoever waits for room must be woken

    def _write(self) -> None:
        try:
            while self.left and not self.is_over:
                # The pipe takes what fits; the rest stays for `run`. Two writers at once would mix two messages.
                del self.left[: os.write(self._pipe, self.left)]
        except BlockingIOError:
            self._more.set()
        except OSError:
            self._end()
        if len(self.left) <= HIGH_WATER or self.is_over:
            self._less.set()
            self._less = anyio.Event()

    def _end(self) -> None:
        self.is_over = True
        self._less.set()


def _number(pipe: IO[bytes] | None) -> int:
    assert pipe is not None  # noqa: S101 - we asked for pipes
    return pipe.fileno()


async def _ready(waiting: Awaitable[None]) -> None:
    try:
        await waiting
    except anyio.ClosedResourceError as error:
        raise PipeClosed from error


async def _readable_pidfd(pid: int) -> None:
    descriptor = os.pidfd_open(pid)
    try:
        await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)
