"""A conversation with a server that the test plays, message by message and without a wire."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio import wait_all_tasks_blocked

from mcpguard.upstreams.exchange.conversation import METHOD_NOT_FOUND, Bounds, RefusedRequest, ServerError
from mcpguard.upstreams.exchange.peer import StreamPeer
from mcpguard.upstreams.exchange.transport import TransportEnded


class Played:
    """The other end of a stream: what was sent, and what the test says."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.reads = anyio.Event()
        self.reads.set()
        self.at_once: Callable[[bytes], bool] | None = None
        self._say, self._hear = anyio.create_memory_object_stream[bytes](1000)

    def put(self, message: bytes) -> bool:  # noqa: ARG002
        return False

    async def send(self, message: bytes) -> None:
        await self.reads.wait()
        self.heard.append(json.loads(message))

    async def receive(self) -> bytes:
        try:
            return await self._hear.receive()
        except anyio.EndOfStream:
            raise TransportEnded("the server has ended") from None

    async def say(self, **message: Any) -> None:  # noqa: ANN401 - JSON
        await self.say_raw(json.dumps({"jsonrpc": "2.0"} | message).encode())

    async def say_raw(self, data: bytes) -> None:
        await self._say.send(data)
        await wait_all_tasks_blocked()

    async def flood(self, count: int, method: str) -> None:
        """Requests numbered from 0, one straight after the other."""
        for number in range(count):
            await self._say.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method}).encode())
        await wait_all_tasks_blocked()

    async def hang_up(self) -> None:
        await self._say.aclose()

    def close(self) -> None:
        self._say.close()
        self._hear.close()


class Conversation:
    """A peer, the server it speaks to, and what reached us from there."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.server = Played()
        self.news: list[tuple[str, object, object]] = []
        self.answers = anyio.Event()
        self.answers.set()
        self.peer = StreamPeer(self.server, self._asked, self._told, bounds)
        self.outcomes: list[object] = []
        self.more: dict[str, Any] = {}

    async def ask(self, method: str, origin: object = None) -> None:
        try:
            self.outcomes.append(await self.peer.request(method, origin=origin))
        except (ServerError, TransportEnded) as error:
            self.outcomes.append(error)

    async def _asked(self, method: str, params: object, origin: object) -> dict[str, Any]:
        if method == "unknown":
            raise RefusedRequest({"code": METHOD_NOT_FOUND, "message": "no such method"})
        await self.answers.wait()
        return {"asked": method, "with": params, "for": origin} | self.more

    def _told(self, method: str, params: object, origin: object) -> None:
        self.news.append((method, params, origin))


@asynccontextmanager
async def conversing(bounds: Bounds | None = None) -> AsyncIterator[tuple[Conversation, anyio.abc.TaskGroup]]:
    talk = Conversation(bounds)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(talk.peer.run)
        yield talk, tasks
        await wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    talk.server.close()
