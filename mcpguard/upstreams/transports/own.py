"""The guard's own server, whose tools are approved scripts: it lists them over a stream in memory.

It is a server like any other to whoever connects it, lists it and reviews what it lists. Calls of its tools are not
sent here: the guard runs the scripts itself (`guard/programs`).
"""

import math
from collections.abc import Callable, Iterable
from typing import Final, Self

import anyio

from mcpguard.codec import envelope
from mcpguard.codec.messages import Failure, Message, Notification, Request, Result, read, write
from mcpguard.domain.servers.listings import Definition, Listing
from mcpguard.upstreams.exchange.transport import TransportEnded

SERVER: Final = {"name": "mcpguard scripts", "version": "1"}
"""The same in every version of mcpguard: a changed one would have to be approved again."""
CAPABILITIES: Final = {"tools": {"listChanged": True}}
MOST_BYTES: Final = 1024 * 1024
_UNKNOWN: Final = {"code": -32601, "message": "this server only lists tools"}


class OwnServer:
    """What the guard's own server lists, and the streams that are connected to it."""

    def __init__(self) -> None:
        self.listing = Listing(capabilities=CAPABILITIES, server=SERVER)
        """What a connection lists now."""
        self._streams: set[OwnStream] = set()

    def offer(self, definitions: Iterable[Definition]) -> None:
        """List these tools from now on, and tell whoever is connected."""
        self.listing = Listing(tuple(definitions), capabilities=CAPABILITIES, server=SERVER)
        for stream in self._streams:
            stream.tell(Notification("notifications/tools/list_changed"))

    def connect(self) -> "OwnStream":
        """Return a stream to this server, connected for the length of a `with` block."""
        return OwnStream(self, self._streams)


class OwnStream:
    """One connection to the guard's own server. It speaks the handshake era, in which changes are told unasked."""

    at_once: Callable[[bytes], bool] | None = None

    def __init__(self, server: OwnServer, streams: "set[OwnStream]") -> None:
        self._server = server
        self._streams = streams
        self._answers, self._read = anyio.create_memory_object_stream[bytes](math.inf)

    def __enter__(self) -> Self:
        self._streams.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._streams.discard(self)
        self._answers.close()
        self._read.close()

    def put(self, message: bytes) -> bool:
        """Take a message and answer it."""
        match read(message, max_bytes=MOST_BYTES):
            case Request(id_, "initialize"):
                version = envelope.HANDSHAKE[-1]
                said = {"protocolVersion": version, "capabilities": CAPABILITIES, "serverInfo": SERVER}
                self.tell(Result(id_, said))
            case Request(id_, "tools/list"):
                self.tell(Result(id_, {"tools": [dict(each) for each in self._server.listing.tools]}))
            case Request(id_, "ping"):
                self.tell(Result(id_, {}))
            case Request(id_):
                self.tell(Failure(id_, _UNKNOWN))
            case _:  # nothing else needs an answer
                pass
        return True

    async def send(self, message: bytes) -> None:
        """Take a message and answer it."""
        self.put(message)

    async def receive(self) -> bytes:
        """Return the next message of the server. Raises TransportEnded at the end."""
        try:
            return await self._read.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError) as error:
            raise TransportEnded("the guard's own server was disconnected") from error

    def tell(self, message: Message) -> None:
        """Write a message to whoever is connected."""
        self._answers.send_nowait(write(message))
