"""Reading HTTP requests, and answers that are one JSON message."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from starlette.types import Receive, Scope, Send

from mcpguard.codec.messages import INVALID_REQUEST, Failure, Id, write
from mcpguard.domain.errors import GuardError
from mcpguard.gateway.message_reader import LARGE
from mcpguard.gateway.wire import own_error

HEADER_MISMATCH = -32020
JSON = (b"content-type", b"application/json")
Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class HttpPatience:
    """How many seconds a body may take to arrive, and after how many silent seconds a client is sent a sign of life."""

    body: float = 60.0
    quiet: float = 15.0


class ClientLeft(GuardError):
    """The client disconnected before its request was complete."""


class HttpRefusal(GuardError):
    """A request that is refused at once. `why` is the fixed word under which it is counted; `wait` is the number of
    seconds after which to retry, 0 where waiting does not help.
    """

    def __init__(
        self, status: int, code: int, sentence: str, why: str, data: Mapping[str, Any] | None = None, wait: int = 0
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.why = why
        self.data = data
        self.wait = wait


def headers(scope: Scope) -> list[tuple[str, str]]:
    """Return all headers. White space around a value is no part of it (RFC 9110, 5.5)."""
    return [(name.decode("latin-1"), _bare(value)) for name, value in scope["headers"]]


def header(scope: Scope, name: bytes) -> str | None:
    """Return the value of a header. A header that appears twice could mean two things, and is refused."""
    found = [value for key, value in scope["headers"] if key == name]
    if len(found) > 1:
        raise HttpRefusal(400, HEADER_MISMATCH, f"the header {name.decode()} appears more than once", "headers")
    return _bare(found[0]) if found else None


def _bare(value: bytes) -> str:
    return value.strip(b" \t").decode("latin-1")


def accepted_types(scope: Scope) -> set[str]:
    """Return the media types that the client accepts, from one Accept header or several."""
    said = b",".join(value for key, value in scope["headers"] if key == b"accept").decode("latin-1").lower()
    return {each.partition(";")[0].strip() for each in said.split(",")}


class RequestBody:
    """The body of a request, as far as it has arrived."""

    def __init__(self, receive: Receive, seconds: float) -> None:
        self.data = bytearray()
        self._receive = receive
        self._seconds = seconds
        self._more = True

    @property
    def is_large(self) -> bool:
        return len(self.data) > LARGE

    async def begin(self) -> None:
        """Read until the body is complete, or large. Raises ClientLeft, or HttpRefusal if it takes too long."""
        await self._take()
        if self._more and not self.is_large:
            await self._take_until(lambda: self.is_large)

    async def end(self) -> None:
        """Read the rest of the body."""
        await self._take_until(lambda: False)

    async def _take_until(self, enough: Callable[[], bool]) -> None:
        with anyio.move_on_after(self._seconds) as late:
            while self._more and not enough():
                await self._take()
        if late.cancelled_caught:
            raise HttpRefusal(408, INVALID_REQUEST, "the request body did not arrive in time", "slow body")

    async def _take(self) -> None:
        part = await self._receive()
        if part["type"] != "http.request":
            raise ClientLeft
        self.data += part.get("body", b"")
        self._more = part.get("more_body", False)


async def send_answer(send: Send, status: int, body: bytes = b"", headers: Headers = ()) -> None:
    """Send a complete answer."""
    own = [JSON] if body else []
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*own, length, *headers]})
    await send({"type": "http.response.body", "body": body})


def failure(code: int, sentence: str, id_: Id | None = None, data: Mapping[str, Any] | None = None) -> bytes:
    return write(Failure(id_, own_error(code, sentence, data)))
