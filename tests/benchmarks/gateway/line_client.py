"""A client on the standard streams of a process: a line for each message, and as many requests at once as one likes."""

import asyncio
import subprocess
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, cast

import orjson
from anyio.lowlevel import checkpoint

from tests.benchmarks.gateway.client import Client
from tests.benchmarks.gateway.speech import Era, Failed, Said, Speech


class LineClient(Client):
    """The one client of a process that runs already."""

    def __init__(self, process: subprocess.Popen[bytes], era: Era) -> None:
        super().__init__(Speech(era))
        self._process = process
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._ended = False

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        source, target = cast("Any", self._process.stdout), cast("Any", self._process.stdin)
        self._input, _ = await loop.connect_read_pipe(lambda: _Lines(self._heard, self._end), source)
        self._output, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, target)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._input.close()
        self._output.close()
        for _ in range(3):  # until the loop has let go of the pipes, so that their numbers can be used again
            await checkpoint()

    async def reconnect(self) -> None:
        if self._ended:
            raise Failed("the process has ended")

    async def _exchange(self, said: Said) -> bytes:
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[said.id] = answer
        try:
            await self._tell(said)
            return await answer
        finally:
            del self._waiting[said.id]

    async def _tell(self, said: Said) -> None:
        await self.reconnect()
        self._output.write(said.body + b"\n")

    def _heard(self, line: bytes) -> None:
        waiting = self._waiting.get(orjson.loads(line).get("id"))
        if waiting is not None and not waiting.done():
            waiting.set_result(line)

    def _end(self) -> None:
        self._ended = True
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(Failed("the process has ended"))


class _Lines(asyncio.Protocol):
    """Hands over what comes, line by line, and then the end."""

    def __init__(self, heard: Callable[[bytes], None], end: Callable[[], None]) -> None:
        self._heard = heard
        self._end = end
        self._unread = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._heard(line)

    def connection_lost(self, _: Exception | None) -> None:
        self._end()
