"""A process and its pipes as streams.

Not by way of the event loop: uvloop leaves each pipe in the child a second time, so its end would never be seen.
"""

import os
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream


class Outgoing(ByteSendStream):
    """The end of a pipe that is written to."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        os.set_blocking(pipe.fileno(), False)

    async def send(self, item: bytes) -> None:
        while item:
            try:
                item = item[os.write(self._pipe.fileno(), item) :]
            except BlockingIOError:
                await anyio.wait_writable(self._pipe)
            except (OSError, ValueError) as error:
                raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        self._pipe.close()


class Incoming(ByteReceiveStream):
    """The end of a pipe that is read from."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        os.set_blocking(pipe.fileno(), False)

    async def receive(self, max_bytes: int = 65_536) -> bytes:
        while True:
            try:
                if data := os.read(self._pipe.fileno(), max_bytes):
                    return data
                raise anyio.EndOfStream
            except BlockingIOError:
                await anyio.wait_readable(self._pipe)

    async def aclose(self) -> None:
        self._pipe.close()


@asynccontextmanager
async def process(
    command: Sequence[str], environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> AsyncIterator[tuple[Outgoing, Incoming]]:
    """The standard streams of a process that is killed when the block ends, if it has not ended by then."""
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(  # noqa: ASYNC220 - see above
        command, stdin=pipe, stdout=pipe, stderr=nothing, env=environment, cwd=folder, bufsize=0
    ) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        try:
            yield Outgoing(started.stdin), Incoming(started.stdout)
        finally:
            started.kill()
