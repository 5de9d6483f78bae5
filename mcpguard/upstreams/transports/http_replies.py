"""Reads HTTP responses: head first, then the body in pieces up to a limit.

Rules kept here:
1. A body is read only up to a limit. Nothing is decompressed: a small body could expand to gigabytes (a zip bomb).
2. Reading never starves other servers: they get time between pieces, however small the pieces are (`fair_reading`).
3. A JSON-RPC error from the server is kept unchanged. Of any other error only the status is repeated and, if
   credentials are requested, the challenge, so that they can be obtained.
"""

import re
from typing import Any, Self, cast

import httpcore2

from mcpguard.codec.messages import BadMessage, Failure
from mcpguard.upstreams.exchange.conversation import INTERNAL_ERROR, Bounds, ServerError
from mcpguard.upstreams.exchange.endings import NoUsableAnswer, TooLarge
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
    """The head of a reply, and its body as it comes. Its holder has to close it."""

    def __init__(self, response: httpcore2.Response, place: RemotePlace) -> None:
        self.status = response.status
        self.place = place
        self._headers = response.headers
        self._stream = cast("Any", response.stream)
        self._pieces = aiter(self._stream)
        self._slices = memoryview(b"")
        wire = wire_of(response)
        # From here on larger pieces may be read: the limit for heads does not hold for the body.
        wire.has_head()
        self._work = wire.work
        self._passed_on = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self._passed_on:
            await self.aclose()

    def pass_on(self) -> Self:
        """Hand the reply over to another holder, who closes it."""
        self._passed_on = True
        return self

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def type(self) -> bytes:
        """The content type, in lower case and without parameters."""
        return self.header(b"content-type").partition(b";")[0].strip().lower()

    def header(self, name: bytes) -> bytes:
        """Return the first header with this name, empty if there is none."""
        return next((value for key, value in self._headers if key.lower() == name), b"")

    async def piece(self) -> bytes:
        """Return the next few bytes, empty at the end. Raises NoUsableAnswer when the connection breaks."""
        if self._slices:
            await self.give_way()
        else:
            self._slices = memoryview(await self._next())
        piece, self._slices = bytes(self._slices[:SLICE]), self._slices[SLICE:]
        return piece

    async def give_way(self) -> None:
        """Wait, if this server has had more than its share. To be called between two small parts of the work."""
        await self._work.give_way()

    async def _next(self) -> bytes:
        await self.give_way()
        try:
            piece: bytes = await anext(self._pieces, b"")
        except _FAILED as error:
            raise NoUsableAnswer("the connection broke in the middle of the answer") from error
        return piece

    async def body(self, limit: int) -> bytes:
        """Return the whole body. Raises TooLarge or NoUsableAnswer."""
        # Never decompressed: a few kilobytes could become gigabytes.
        if self.header(b"content-encoding").strip().lower() not in (b"", b"identity"):
            raise NoUsableAnswer("the server compressed its answer, which mcpguard does not accept")
        said = self.header(b"content-length")
        found = bytearray()
        # A declared length above the limit ends it before the first byte; a false or missing one ends it at the limit.
        while len(found) <= limit and not (said.isdigit() and int(said[:18]) > limit):
            piece = await self._next()
            if not piece:
                return bytes(found)
            found += piece
        raise TooLarge(f"the server's answer is longer than {limit} bytes")

    async def aclose(self) -> None:
        """Close the reply. The connection is kept if the body was read to its end; a reader elsewhere gets an error."""
        # A generator that is just running cannot be closed from outside; its reader ends with the stream below.
        if not self._pieces.ag_running:
            await self._pieces.aclose()
        await self._stream.aclose()


async def refusal(reply: Reply, bounds: Bounds) -> ServerError:
    """Return the error for a reply without success."""
    data: dict[str, Any] = {"status": reply.status}
    if reply.status in (UNAUTHORIZED, FORBIDDEN):
        # The server's own text, for the client that needs it to sign in: shortened, and without control characters.
        if challenge := reply.header(b"www-authenticate"):
            data["www_authenticate"] = _UNPRINTABLE.sub(b"", challenge[:LONGEST_CHALLENGE]).decode("ascii")
    elif reply.type == JSON and (error := await _error_in(reply, bounds)) is not None:
        return ServerError(error)
    sentence = f"the server answered with HTTP status {reply.status}"
    return ServerError({"code": INTERNAL_ERROR, "message": sentence, "data": data})


async def _error_in(reply: Reply, bounds: Bounds) -> dict[str, Any] | None:
    """Return the JSON-RPC error in the body, whatever its id: a server may refuse a request without reading it."""
    try:
        said = await ServerMessageReader(bounds).read(await reply.body(bounds.message_bytes))
    except (NoUsableAnswer, BadMessage):
        return None
    return said.error if isinstance(said, Failure) else None
