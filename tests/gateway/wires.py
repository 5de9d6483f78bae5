"""What a client may do on a connection that no library would: half requests, silence, and hanging up."""

import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.gate import DIRECT, Gate
from tests.simulators.words import CLIENT_CAPABILITIES, MODERN, PROTOCOL_VERSION, Id, Json

MODERN_META: Json = {PROTOCOL_VERSION: MODERN, CLIENT_CAPABILITIES: {}}


class Wire:
    """A connection to the network listener."""

    def __init__(self, stream: SocketStream, host: str) -> None:
        self.stream = stream
        self._host = host
        self._source = BufferedByteReceiveStream(stream)

    async def send(self, data: bytes) -> None:
        await self.stream.send(data)

    async def post(self, message: Json | bytes, headers: Mapping[str, str] | None = None, path: str = DIRECT) -> None:
        await self.send(self.request(message, headers, path))

    def request(self, message: Json | bytes, headers: Mapping[str, str] | None = None, path: str = DIRECT) -> bytes:
        """A whole request."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.head(len(body), headers or {}, path) + body

    def head(self, length: int, headers: Mapping[str, str], path: str = DIRECT, method: str = "POST") -> bytes:
        said = {
            "host": self._host,
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "content-length": str(length),
        } | dict(headers)
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items())]
        return "\r\n".join(lines).encode() + b"\r\n\r\n"

    async def answer(self) -> tuple[int, Json]:
        """The status and the message of an answer that is one message."""
        status, headers = await self.answer_head()
        body = await self._source.receive_exactly(int(headers.get("content-length", "0")))
        return status, json.loads(body) if body.startswith(b"{") else {}

    async def answer_head(self) -> tuple[int, dict[str, str]]:
        head = (await self._source.receive_until(b"\r\n\r\n", 65_536)).decode("latin-1")
        first, *lines = head.split("\r\n")
        return int(first.split()[1]), {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
        }

    async def exactly(self, count: int) -> bytes:
        return await self._source.receive_exactly(count)

    async def until_closed(self) -> bytes:
        """What else comes before the other side closes."""
        said = bytearray(self._source.buffer)
        try:
            while True:
                said += await self.stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return bytes(said)


@asynccontextmanager
async def wire(guard: Gate, port: int | None = None) -> AsyncIterator[Wire]:
    host = "127.0.0.1"
    port = port or int(guard.where.url.rpartition(":")[2])
    async with await anyio.connect_tcp(host, port) as stream:
        yield Wire(stream, f"{host}:{port}")


def modern(method: str, params: Json | None = None, id_: Id = 1) -> Json:
    """A request that says everything itself."""
    meta = MODERN_META | ((params or {}).get("_meta") or {})
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": {**(params or {}), "_meta": meta}}


def mirrored(message: Json) -> dict[str, str]:
    """The headers that go with it."""
    said: dict[str, Any] = {"mcp-protocol-version": MODERN, "mcp-method": message["method"]}
    name = message["params"].get("name", message["params"].get("uri"))
    return said if name is None else said | {"mcp-name": name}


async def post(
    guard: Gate, message: Json, headers: dict[str, str] | None = None, *twice: tuple[str, str]
) -> tuple[int, Json]:
    """What comes for exactly these headers, besides those that every request has."""
    async with wire(guard) as connection:
        request = connection.request(message, headers)
        head, _, body = request.partition(b"\r\n\r\n")
        more = b"".join(b"\r\n" + f"{name}: {value}".encode("latin-1") for name, value in twice)
        await connection.send(head + more + b"\r\n\r\n" + body)
        return await connection.answer()


@asynccontextmanager
async def narrow(guard: Gate, port: int | None = None) -> AsyncIterator[Wire]:
    """A connection that takes in little before its client reads."""
    port = port or int(guard.where.url.rpartition(":")[2])
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        raw = stream.extra(SocketAttribute.raw_socket)  # noqa: S610 - no query of a database
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        yield Wire(stream, f"127.0.0.1:{port}")


def widen(connection: Wire) -> None:
    """Take in much at once from here on: a small window takes minutes for megabytes."""
    raw = connection.stream.extra(SocketAttribute.raw_socket)  # noqa: S610 - no query of a database
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024 * 1024)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, 1024 * 1024)  # Linux keeps the small window otherwise


async def answered(guard: Gate, count: int = 1) -> None:
    """Wait until that many calls have ended, whether or not anybody has read how."""
    while len([each for each in guard.entries() if each.get("outcome") == "answered"]) < count:
        await anyio.lowlevel.checkpoint()
