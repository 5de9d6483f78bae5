"""A remote server on a real socket that the test plays, request by request, as badly as it likes."""

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_network
from typing import Any

import anyio
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.tls import TLSStream

from mcpguard.upstreams.transports.addresses import Address
from mcpguard.upstreams.transports.dialing import Dialing
from tests.patience import PATIENCE

LOOPBACK = [ip_network("127.0.0.0/8")]
GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError)


def dialing(trust: ssl.SSLContext | None = None, forbidden: set[tuple[Address, int]] | None = None) -> Dialing:
    """With loopback allowed."""
    return Dialing(LOOPBACK, forbidden or set(), trust)


class Asked:
    """A request that came in, and what is done with it."""

    def __init__(self, stream: ByteStream, head: bytes, body: bytes) -> None:
        line, *fields = head.decode("latin-1").split("\r\n")
        self.verb, self.target, _ = line.split(" ")
        self.headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        self.body = body
        self.over = anyio.Event()
        self._stream = stream

    @property
    def message(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found

    async def raw(self, data: bytes) -> None:
        with suppress(*GONE):  # the other side may have had enough
            await self._stream.send(data)

    async def head(self, status: int, *headers: str) -> None:
        await self.raw("\r\n".join((f"HTTP/1.1 {status} Said", *headers, "", "")).encode())

    async def answer(self, status: int, body: bytes = b"", *headers: str) -> None:
        """Answer whole."""
        await self.head(status, f"Content-Length: {len(body)}", *headers)
        await self.raw(body)
        self.over.set()

    async def json(self, message: object, *headers: str, status: int = 200) -> None:
        await self.answer(status, json.dumps(message).encode(), "Content-Type: application/json", *headers)

    async def result(self, *headers: str, **result: object) -> None:
        await self.json({"jsonrpc": "2.0", "id": self.message["id"], "result": result}, *headers)

    async def taken(self) -> None:
        await self.answer(202)

    async def stream(self, *headers: str) -> None:
        """Begin a stream of events."""
        await self.head(200, "Content-Type: text/event-stream", "Transfer-Encoding: chunked", *headers)

    async def chunk(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def event(self, message: object = None, **fields: str) -> None:
        """An event with a message, or with no data."""
        lines = [f"{name}: {value}" for name, value in fields.items()]
        lines.append("data:" if message is None else f"data: {json.dumps(message)}")
        await self.chunk("\n".join((*lines, "", "")).encode())

    async def event_result(self, **result: object) -> None:
        await self.event({"jsonrpc": "2.0", "id": self.message["id"], "result": result})

    async def end(self) -> None:
        """End the stream as it should be ended."""
        await self.raw(b"0\r\n\r\n")
        self.over.set()

    async def hang_up(self) -> None:
        """Close the connection."""
        await self._stream.aclose()
        self.over.set()

    async def cut(self) -> None:
        """End the connection without a word, where TLS would have one."""
        await anyio.aclose_forcefully(self._stream)
        self.over.set()

    async def left(self) -> None:
        """Until the other side has closed the connection."""
        with anyio.fail_after(PATIENCE), suppress(*GONE):
            while True:
                await self._stream.receive()
        self.over.set()


class Played:
    """The server. `next` gives what was asked, in the order in which it came. `tls` counts for the next connection."""

    def __init__(self, port: int, tls: ssl.SSLContext | None) -> None:
        self.port = port
        self.tls = tls
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}/mcp"
        self.connections = 0
        self.heard: list[Asked] = []
        self._coming, self._came = anyio.create_memory_object_stream[Asked](1000)

    async def next(self, method: str | None = None) -> Asked:
        """The next request; of the messages of `method`, where one is named, passing over none."""
        with anyio.fail_after(PATIENCE):
            asked = await self._came.receive()
        if method is not None:
            assert asked.verb == "POST", asked.verb
            assert asked.message.get("method") == method, asked.message
        return asked

    async def connected(self, stream: ByteStream) -> None:
        self.connections += 1
        requests = BufferedByteReceiveStream(stream)
        async with stream:
            with suppress(anyio.IncompleteRead, *GONE):
                while True:
                    head = await requests.receive_until(b"\r\n\r\n", 200_000)
                    length = next(
                        (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")),
                        0,
                    )
                    body = await requests.receive_exactly(length) if length else b""
                    asked = Asked(stream, head, body)
                    self.heard.append(asked)
                    await self._coming.send(asked)
                    await asked.over.wait()

    def close(self) -> None:
        self._coming.close()
        self._came.close()


@asynccontextmanager
async def played(tls: ssl.SSLContext | None = None) -> AsyncIterator[Played]:
    """A server that listens."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.listeners[0].extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610 - a stream's, not a query's
    async with listener, anyio.create_task_group() as tasks:
        server = Played(port, tls)

        async def connected(stream: ByteStream) -> None:
            if server.tls is not None:
                try:
                    stream = await TLSStream.wrap(
                        stream, server_side=True, ssl_context=server.tls, standard_compatible=False
                    )
                except (ssl.SSLError, *GONE):
                    await anyio.aclose_forcefully(stream)
                    return
            await server.connected(stream)

        tasks.start_soon(listener.serve, connected)
        try:
            yield server
        finally:
            tasks.cancel_scope.cancel()
            server.close()
