"""Reads HTTP responses: head first, then the body in pieces up to a limit.

Rules kept here:
1. A reply has one length. Two lengths, a length and chunks, chunks within another encoding, and a change of protocol
   are refused; only a reply without a length ends with its connection.
2. The bytes before the body are limited, and so are header fields, informational heads (1xx), and what chunks and
   trailers add to a body.
3. A body is read only up to a limit. Nothing is decompressed: a small body could expand to gigabytes (a zip bomb).
4. Reading never starves other servers: they get time between pieces, however small the pieces are (`fair_reading`).
5. A JSON-RPC error from the server is kept unchanged. Of any other error only the status is repeated and, if
   credentials are requested, the challenge, so that they can be obtained.
"""

import asyncio
import re
import time
from typing import Any, Protocol, Self

from anyio.lowlevel import checkpoint
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from mcpguard.codec.messages import BadMessage, Failure
from mcpguard.upstreams.exchange.conversation import INTERNAL_ERROR, Bounds, ServerError
from mcpguard.upstreams.exchange.endings import NoUsableAnswer, TooLarge
from mcpguard.upstreams.exchange.message_reader import LARGE, ServerMessageReader
from mcpguard.upstreams.process.fair_reading import ConnectionTurns, Work
from mcpguard.upstreams.transports.remotes import RemotePlace

JSON = b"application/json"
EVENTS = b"text/event-stream"
UNAUTHORIZED = 401
FORBIDDEN = 403
NOT_FOUND = 404
SLICE = 2048
LONGEST_HEAD = 110_592
MOST_FIELDS = 256
MOST_INFORMATIONAL = 16
MOST_PER_BYTE = 17
"""Bytes that may come for each byte of a body: a chunk of one byte has six."""
LONGEST_CHALLENGE = 2048
_SWITCHING = 101
_DIGITS = len(str(LARGE))
_ONLY_ONCE = frozenset({b"content-length", b"transfer-encoding"})
_UNPRINTABLE = re.compile(rb"[^\x20-\x7e]")
BROKE_OFF = "the connection broke in the middle of the answer"


class ReplyCarrier(Protocol):
    """The connection that a reply comes over."""

    turns: ConnectionTurns

    def resume(self) -> None:
        """Read on."""
        ...

    def leave(self) -> None:
        """End the request, and keep the connection only if its reply was read to the end."""
        ...


class _Refused(Exception):
    """The reply cannot be trusted to end where it says."""


class Reply:
    """The head of a reply, and its body as it comes. Its holder has to close it.

    The parser calls the methods that begin with `on_`.
    """

    def __init__(self, wire: ReplyCarrier, place: RemotePlace) -> None:
        self.place = place
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        """By their names in lower case; of several with one name the first."""
        self.content = bytearray()
        """What has come of the body and was not taken yet."""
        self.is_whole = False
        self.is_plain = False
        """Whether it is a JSON text and nothing more."""
        self.is_short = False
        """Whether it is plain and says that it is short: it is waited for until it has come whole."""
        self.has_head = False
        self.ends_with_connection = False
        self.leaves_connection = False
        """Whether the connection can carry another request after this one."""
        self.raw = self.received = self.reads = 0
        self.waiting: asyncio.Future[None] | None = None
        self.error: NoUsableAnswer | None = None
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self.work: Work | None = None
        self.wire: ReplyCarrier | None = wire
        self._fields = self._informational = 0
        self._slices = memoryview(b"")
        self._passed_on = False

    def on_message_begin(self) -> None:
        if self.is_whole:
            self.leaves_connection = False
            raise _Refused

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields += 1
        if self._fields > MOST_FIELDS:
            raise _Refused
        name = name.lower()
        # The parser refuses two lengths as well; of two encodings it would follow the last, and we the first.
        if name in _ONLY_ONCE and name in self.headers:
            raise _Refused
        if not self.has_head:  # otherwise it is a trailer, which changes nothing
            self.headers.setdefault(name, value)

    def on_headers_complete(self) -> None:
        if (parser := self._parser) is None:
            raise _Refused
        status, headers = parser.get_status_code(), self.headers
        if status < 200:  # the final head follows
            self._informational += 1
            if status == _SWITCHING or self._informational > MOST_INFORMATIONAL:
                raise _Refused
            headers.clear()
            return
        chunked = headers.get(b"transfer-encoding")
        # The parser refuses two lengths. Chunks within another encoding it would read to the end of the connection.
        if chunked is not None and (chunked.strip().lower() != b"chunked" or parser.get_http_version() != "1.1"):
            raise _Refused
        self.status, self.has_head = status, True
        length = headers.get(b"content-length")
        self.ends_with_connection = chunked is None and length is None and status not in (204, 304)
        self.is_plain = status == 200 and headers.get(b"content-type") == JSON and b"content-encoding" not in headers
        if self.is_plain and length is not None:
            self.is_short = len(length) <= _DIGITS and length.isdigit() and int(length) <= LARGE

    def on_body(self, data: bytes) -> None:
        self.content += data
        self.received += len(data)

    def on_message_complete(self) -> None:
        if self.has_head and self._parser is not None:
            self.is_whole = True
            self.leaves_connection = self._parser.should_keep_alive()
            self._parser = None  # it refers to this reply: without this both would stay until garbage is collected

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

    @property
    def is_compressed(self) -> bool:
        return self.header(b"content-encoding").strip().lower() not in (b"", b"identity")

    def header(self, name: bytes) -> bytes:
        """Return the first header with this name, empty if there is none."""
        return self.headers.get(name, b"")

    async def piece(self) -> bytes:
        """Return the next few bytes, empty at the end. Raises NoUsableAnswer when the connection breaks."""
        if self._slices:
            # However many connections have something, all others have a turn between two small parts of it.
            await checkpoint()
            await self.give_way()
        else:
            self._slices = memoryview(await self._next())
        piece, self._slices = bytes(self._slices[:SLICE]), self._slices[SLICE:]
        return piece

    async def give_way(self) -> None:
        """Wait, if this server has had more than its share. To be called between two small parts of the work."""
        if self.work is not None:
            await self.work.give_way()

    async def _next(self) -> bytes:
        """Return what has come, at least one byte; empty at the end. Raises NoUsableAnswer."""
        if self.work is None and self.wire is not None:
            self.work = Work(self.wire.turns)
        await self.give_way()
        while not self.content and not self.is_whole:
            if self.error is not None:
                raise self.error
            if self.wire is None:
                raise NoUsableAnswer(BROKE_OFF)
            await self._more(self.wire)
        data = bytes(self.content)
        self.content.clear()
        return data

    async def _more(self, wire: ReplyCarrier) -> None:
        self.waiting = asyncio.get_running_loop().create_future()
        wire.resume()
        if self.work is not None:
            self.work.wait()
        try:
            await self.waiting
        finally:
            self.waiting = None
            if self.work is not None:
                self.work.come()

    async def body(self, limit: int) -> bytes:
        """Return the whole body. Raises TooLarge or NoUsableAnswer."""
        # Never decompressed: a few kilobytes could become gigabytes.
        if self.is_compressed:
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

    def feed(self, data: memoryview) -> bool:
        """Take what has come. Returns false where the connection cannot be read any further."""
        began = time.thread_time() if self.work is not None else 0.0
        self.raw += len(data)
        self.reads += 1
        if self._parser is None:
            return False
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            return False
        if self.work is not None:
            self.work.charge(time.thread_time() - began)
        return self.raw <= LONGEST_HEAD + MOST_PER_BYTE * self.received

    async def aclose(self) -> None:
        """Close the reply. The connection is kept if the body was read to its end; a reader elsewhere gets an error."""
        wire, self.wire = self.wire, None
        if wire is not None:
            wire.leave()
        self.wake(NoUsableAnswer(BROKE_OFF))

    def wake(self, error: NoUsableAnswer | None = None) -> None:
        """Wake whoever waits for more of the reply."""
        self._parser = None
        if error is not None and not self.is_whole:
            self.error = self.error or error
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(None)


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
