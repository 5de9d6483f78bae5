"""The raw client on a stream of bytes: the standard streams of a process, or a socket.

async with speaking_to(command) as client:
    await client.discover()
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from mcpguard.codec.framing import Decoder, Framing, encode
from tests.simulators.client import RawClient, Reply
from tests.simulators.pipes import process
from tests.simulators.words import Id, Json

LIMIT = 64 * 1024 * 1024


class LineClient(RawClient):
    """All messages share one stream. `run` reads, for as long as anything is asked."""

    def __init__(
        self,
        output: ByteSendStream,
        source: ByteReceiveStream,
        *,
        modern: bool = True,
        version: str | None = None,
        framing: Framing = Framing.LINES,
    ) -> None:
        super().__init__(modern=modern, version=version)
        self.framing = framing
        self.ended = anyio.Event()
        self._output = output
        self._source = source
        self._decoder = Decoder(LIMIT)
        self._waiting: dict[Id, tuple[Reply, anyio.Event]] = {}
        self._turn = anyio.Lock()

    async def exchange(self, message: Json, **options: Any) -> Reply:  # noqa: ANN401 - there are none
        assert not options, options
        reply, answered = Reply(), anyio.Event()
        self._waiting[message["id"]] = reply, answered
        try:
            await self.send(message)
            await answered.wait()
        finally:
            del self._waiting[message["id"]]
        return reply

    async def send(self, message: Json) -> Reply:
        await self.send_raw(json.dumps(message).encode())
        return Reply()

    async def send_raw(self, data: bytes) -> None:
        async with self._turn:
            await self._output.send(encode(data, self.framing))

    async def cancel(self, id_: Id) -> None:
        """Take a request back."""
        await self.notify("notifications/cancelled", {"requestId": id_})

    async def run(self) -> None:
        """Read until the stream ends; then nobody who waits gets an answer."""
        try:
            while True:
                for message in self._decoder.feed(await self._source.receive()):
                    await self._take(json.loads(message))
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return
        finally:
            self.ended.set()
            for _, answered in self._waiting.values():
                answered.set()

    async def _take(self, said: Json) -> None:
        if "method" not in said:
            reply, answered = self._waiting.get(said.get("id", ""), (None, None))
            if reply is None or answered is None or answered.is_set():
                self.stray.append(said)
            else:
                reply.message = said
                answered.set()
            return
        self.heard.append(said)
        for reply, _ in self._waiting.values():
            reply.before.append(said)
        if "id" in said:
            await self.be_asked(said)


@asynccontextmanager
async def speaking_to(
    command: Sequence[str],
    *,
    modern: bool = True,
    framing: Framing = Framing.LINES,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> AsyncIterator[LineClient]:
    """A client of a process, which ends with the block."""
    async with process(command, environment, folder) as (output, source), anyio.create_task_group() as tasks:
        client = LineClient(output, source, modern=modern, framing=framing)
        tasks.start_soon(client.run, name="client")
        yield client
        tasks.cancel_scope.cancel()
