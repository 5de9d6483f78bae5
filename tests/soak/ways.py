"""The ways in which clients come to the guard."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.process import environment
from tests.simulators.client import Reply
from tests.simulators.http_client import HttpClient, events
from tests.simulators.line_client import LineClient, speaking_to
from tests.simulators.words import Json
from tests.soak.book import Book

KEPT_SECONDS = 5.0
"""As long as most clients do. The guard keeps a connection longer, or it would be closed just as it is used."""


class Over(StrEnum):
    """What carries a client's messages: the network, the agents' socket, or a relay in front of that."""

    HTTP = "http"
    SOCKET = "socket"
    RELAY = "relay"


@dataclass(frozen=True)
class How:
    """How a client comes."""

    over: Over
    modern: bool
    alone: bool  # at the face of one server

    def __str__(self) -> str:
        return f"{self.over} {'modern' if self.modern else 'legacy'} {'only' if self.alone else 'all'}"


HOWS = tuple(
    How(over, modern, alone)
    for alone, over in (
        (False, Over.HTTP),
        (False, Over.SOCKET),
        (True, Over.HTTP),
        (False, Over.RELAY),
        (True, Over.SOCKET),
    )
    for modern in (True, False)
)


@dataclass
class House:
    """A guard as its clients know it. `vanished` are the sessions of those who left without a word."""

    url: str
    agents: Path
    data_dir: Path
    servers: tuple[str, ...]
    everything: bool
    book: Book
    vanished: list[tuple[str, str]] = field(default_factory=list)

    def face(self, only: str | None) -> str:
        return f"{self.url}/mcp/only/{only}" if only else f"{self.url}/mcp/all"

    async def end_vanished(self) -> None:
        """What those who left would have done."""
        async with httpx2.AsyncClient(trust_env=False) as http:
            while self.vanished:
                url, session = self.vanished.pop()
                client = HttpClient(http, url, modern=False)
                client.session = session
                status = (await client.end()).status
                self.book.check(status == 200, f"a session could not be ended: {status}")


class WholeHttpClient(HttpClient):
    """Reads every response to its end, so that what comes after an answer is seen too."""

    async def exchange(self, message: Json, **options: Any) -> Reply:  # noqa: ANN401 - see HttpClient
        reply = Reply()
        async with self._posted(message, options) as response:
            reply.status = response.status_code
            self.session = response.headers.get("mcp-session-id", self.session)
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                body = await response.aread()
                reply.message = json.loads(body) if body else None
                return reply
            async for said in events(response):
                if reply.message is not None:
                    self.stray.append(said)
                else:
                    await self._took(said, message.get("id"), reply)
        return reply


Client = WholeHttpClient | LineClient


@asynccontextmanager
async def connected(house: House, how: How, only: str | None) -> AsyncIterator[Client]:
    """A client that may ask, as it comes from the handshake where its era has one."""
    async with _http(house, how, only) if how.over is Over.HTTP else _line(house, how, only) as client:
        if not how.modern:
            await client.initialize()
        yield client


@asynccontextmanager
async def _http(house: House, how: How, only: str | None) -> AsyncIterator[Client]:
    kept = httpx2.Limits(keepalive_expiry=KEPT_SECONDS)
    async with httpx2.AsyncClient(trust_env=False, limits=kept) as http:
        yield WholeHttpClient(http, house.face(only), modern=how.modern)


@asynccontextmanager
async def _line(house: House, how: How, only: str | None) -> AsyncIterator[Client]:
    if how.over is Over.RELAY:
        face = ["--face", "transparent", "--only", only] if only else ["--face", "direct"]
        command = [sys.executable, "-m", "mcpguard", "stdio", "--data-dir", str(house.data_dir), *face]
        async with speaking_to(command, modern=how.modern, environment=environment({})) as client:
            yield client
        return
    hello = {"mcpguard": 1, "face": "transparent" if only else "direct", "only": only, "token": None}
    async with await anyio.connect_unix(house.agents) as socket, anyio.create_task_group() as tasks:
        lines = BufferedByteReceiveStream(socket)
        await socket.send(json.dumps(hello).encode() + b"\n")
        assert json.loads(await lines.receive_until(b"\n", 4096)) == {"mcpguard": 1}
        client = LineClient(socket, lines, modern=how.modern)
        tasks.start_soon(client.run, name="a client's stream")
        yield client
        tasks.cancel_scope.cancel()
