"""What came back for an HTTP request: taken piece by piece, never more than was agreed, and judged by its head first.

Rules kept here:
1. A body is held only up to a limit; what is longer is not read on. Nothing is decompressed.
2. Reading never keeps the others waiting: however small the pieces are, everyone gets time in between (`sharing`).
3. An error of the server's that is a JSON-RPC error is kept as it is. Of everything else only the status is told, and,
   where credentials are asked for, in what words, so that they can be got.
"""

import re
from typing import Any, Self, cast

import httpcore2

from mcpguard.codec.messages import BadMessage, Failure
from mcpguard.upstreams.exchange.conversation import INTERNAL_ERROR, Bounds, ServerError
from mcpguard.upstreams.exchange.endings import TooLarge, Unanswered
from mcpguard.upstreams.exchange.message_reader import ServerMessageReader
from mcpguard.upstreams.transports.dialing import wire_of
from mcpguard.upstreams.transports.remotes import RemotePlace

JSON = b"application/json"
EVENTS = b"text/event-stream"
UNAUTHORIZED = 401
FORBIDDEN = 403
NOT_FOUND = 404
SLICE = 2048
LONGEST_CHALLENGE = 2048
_FAILED = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError)
_UNPRINTABLE = re.compile(rb"[^\x20-\x7e]")


class Reply:
    """The head of a reply, and its body as it comes. To be closed by whoever has it."""

    def __init__(self, response: httpcore2.Response, place: RemotePlace) -> None:
        self.status = response.status
        self.place = place
        self._headers = response.headers
        self._stream = cast("Any", response.stream)
        self._pieces = aiter(self._stream)
        self._slices = memoryview(b"")
        wire = wire_of(response)
        wire.has_head()
        self._work = wire.work
        self._passed_on = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self._passed_on:
            await self.aclose()

    def pass_on(self) -> Self:
        """Somebody else closes it from now on."""
        self._passed_on = True
        return self

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def type(self) -> bytes:
        """Of the content, in lower case and without parameters."""
        return self.header(b"content-type").partition(b";")[0].strip().lower()

    def header(self, name: bytes) -> bytes:
        """The first of this name, empty if there is none."""
        return next((value for key, value in self._headers if key.lower() == name), b"")

    async def piece(self) -> bytes:
        """A little of what comes next, empty at the end. Raises Unanswered when the connection breaks."""
        if self._slices:
            await self.give_way()
        else:
            self._slices = memoryview(await self._next())
        piece, self._slices = bytes(self._slices[:SLICE]), self._slices[SLICE:]
        return piece

    async def give_way(self) -> None:
        """To be called between two small parts of what is done with what came."""
        await self._work.give_way()

    async def _next(self) -> bytes:
        await self.give_way()
        try:
            piece: bytes = await anext(self._pieces, b"")
        except _FAILED as error:
            raise Unanswered("the server broke off in the middle of its answer") from error
        return piece

    async def body(self, limit: int) -> bytes:
        """All of it. Raises TooLarge or Unanswered."""
        if self.header(b"content-encoding").strip().lower() not in (b"", b"identity"):
            raise Unanswered("the server compressed its answer although it was asked not to")
        said = self.header(b"content-length")
        found = bytearray()
        while len(found) <= limit and not (said.isdigit() and int(said[:18]) > limit):
            piece = await self._next()
            if not piece:
                return bytes(found)
            found += piece
        raise TooLarge(f"the server's answer is longer than {limit} bytes")

    async def aclose(self) -> None:
        """Keeps the connection if the body was read to its end. Whoever still reads hears of the end."""
        if not self._pieces.ag_running:
            await self._pieces.aclose()
        await self._stream.aclose()


async def refusal(reply: Reply, bounds: Bounds) -> ServerError:
    """What a reply that is no success says."""
    data: dict[str, Any] = {"status": reply.status}
    if reply.status in (UNAUTHORIZED, FORBIDDEN):
        if challenge := reply.header(b"www-authenticate"):
            data["www_authenticate"] = _UNPRINTABLE.sub(b"", challenge[:LONGEST_CHALLENGE]).decode("ascii")
    elif reply.type == JSON and (error := await _error_in(reply, bounds)) is not None:
        return ServerError(error)
    sentence = f"the server answered with HTTP status {reply.status}"
    return ServerError({"code": INTERNAL_ERROR, "message": sentence, "data": data})


async def _error_in(reply: Reply, bounds: Bounds) -> dict[str, Any] | None:
    """Whatever id it names: a server that refuses a request as a whole need not have read it."""
    try:
        said = await ServerMessageReader(bounds).read(await reply.body(bounds.message_bytes))
    except (Unanswered, BadMessage):
        return None
    return said.error if isinstance(said, Failure) else None
