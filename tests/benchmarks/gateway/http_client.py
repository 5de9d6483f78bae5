"""A client over streamable HTTP that does as little as it can: one connection, one request at a time.

An answer counts as soon as it is there; what is left of a stream of events is read before the next request.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Final, Self

from tests.benchmarks.gateway.client import Client
from tests.benchmarks.gateway.speech import Era, Failed, Said, Speech
from tests.benchmarks.gateway.upstream import HANDSHAKE, MODERN

LIMIT: Final = 64 * 1024 * 1024
_BROKEN = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError)
_SESSION = re.compile(rb"\r\nmcp-session-id: *([^\r]*)", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_EVENTS = re.compile(rb"\r\ncontent-type: *text/event-stream", re.IGNORECASE)
_ANSWER = re.compile(rb'"(?:result|error)" *:')


class HttpClient(Client):
    """One connection."""

    def __init__(self, port: int, path: str, era: Era, by: str = "") -> None:
        super().__init__(Speech(era, by))
        self._port = port
        self._first = (
            f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n"
            "accept: application/json, text/event-stream\r\n"
        ).encode()
        version = MODERN if era is Era.MODERN else HANDSHAKE[-1]
        self._version = f"mcp-protocol-version: {version}\r\n".encode()
        self._session = b""
        self._rest: AsyncIterator[bytes] | None = None

    async def __aenter__(self) -> Self:
        await self._connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.transport.abort()

    async def reconnect(self) -> None:
        self._writer.transport.abort()
        await self._connect()
        await self.greet()

    async def _connect(self) -> None:
        try:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=LIMIT)
        except OSError as error:
            raise Failed(f"no connection: {error}") from error
        self._session, self._rest = b"", None

    async def _exchange(self, said: Said) -> bytes:
        try:
            return await self._posted(said)
        except _BROKEN as error:
            raise Failed(f"the connection broke: {error!r}") from error

    async def _tell(self, said: Said) -> None:
        await self._exchange(said)

    async def _posted(self, said: Said) -> bytes:
        if self._rest is not None:
            rest, self._rest = self._rest, None
            async for _ in rest:
                pass
        head = b"%b%bcontent-length: %d\r\n\r\n" % (self._first, self._headers(said), len(said.body))
        self._writer.write(head + said.body)
        head = await self._reader.readuntil(b"\r\n\r\n")
        if said.method == "initialize" and (session := _SESSION.search(head)):
            self._session = b"mcp-session-id: %b\r\n" % session[1]
        pieces = self._pieces(head)
        if _EVENTS.search(head):
            return await self._event(pieces)
        body = b"".join([piece async for piece in pieces])
        if not head.startswith(b"HTTP/1.1 2"):
            raise Failed(f"{said.method}: {head[9:12].decode()} {body[:200]!r}")
        return body

    def _headers(self, said: Said) -> bytes:
        if said.method == "initialize":
            return b""
        if self._speech.era is Era.HANDSHAKE:
            return self._version + self._session
        named = f"mcp-name: {said.name}\r\n" if said.name else ""
        return self._version + f"mcp-method: {said.method}\r\n{named}".encode()

    async def _pieces(self, head: bytes) -> AsyncIterator[bytes]:
        """The body, as it comes."""
        if found := _LENGTH.search(head):
            yield await self._reader.readexactly(int(found[1]))
            return
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            yield (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readexactly(2)

    async def _event(self, pieces: AsyncIterator[bytes]) -> bytes:
        """The first message of a stream that is an answer."""
        unread = b""
        async for piece in pieces:
            *events, unread = (unread + piece).replace(b"\r\n", b"\n").split(b"\n\n")
            for event in events:
                lines = [line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:")]
                if _ANSWER.search(data := b"\n".join(lines), 0, 200):
                    self._rest = pieces
                    return data
        raise Failed(f"a stream without an answer: {unread[:200]!r}")
