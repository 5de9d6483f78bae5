"""Answers over HTTP that are one JSON message, and the reading of requests."""

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
    """How many seconds a body may take to come, and how long a client hears nothing before it gets a sign of life."""

    body: float = 60.0
    quiet: float = 15.0


class Left(GuardError):
    """The client has left before it had said everything."""


class Turned(GuardError):
    """A request that is answered at once. `why` is a word of ours, for counting; `wait` is the number of seconds after
    which it may be made again, 0 where waiting does not help."""

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
    """All of them. White space around a value is no part of it (RFC 9110, 5.5)."""
    return [(name.decode("latin-1"), _bare(value)) for name, value in scope["headers"]]


def header(scope: Scope, name: bytes) -> str | None:
    """The value of a header. One that is there twice could mean two things, and is refused."""
    found = [value for key, value in scope["headers"] if key == name]
    if len(found) > 1:
        raise Turned(400, HEADER_MISMATCH, f"the header {name.decode()} is there more than once", "headers")
    return _bare(found[0]) if found else None


def _bare(value: bytes) -> str:
    return value.strip(b" \t").decode("latin-1")


def accepted(scope: Scope) -> set[str]:
    """The kinds of answer that the client takes; they may be said in one header or in several."""
    said = b",".join(value for key, value in scope["headers"] if key == b"accept").decode("latin-1").lower()
    return {each.partition(";")[0].strip() for each in said.split(",")}


class RequestBody:
    """The body of a request, as far as it has come."""

    def __init__(self, receive: Receive, seconds: float) -> None:
        self.data = bytearray()
        self._receive = receive
        self._seconds = seconds
        self._more = True

    @property
    def is_large(self) -> bool:
        return len(self.data) > LARGE

    async def begin(self) -> None:
        """Take it in until it is whole, or large. Raises Left, or Turned if it takes too long to come."""
        await self._take()
        if self._more and not self.is_large:
            await self._take_until(lambda: self.is_large)

    async def end(self) -> None:
        """Take in the rest."""
        await self._take_until(lambda: False)

    async def _take_until(self, enough: Callable[[], bool]) -> None:
        with anyio.move_on_after(self._seconds) as late:
            while self._more and not enough():
                await self._take()
        if late.cancelled_caught:
            raise Turned(408, INVALID_REQUEST, "the body did not come in time", "slow body")

    async def _take(self) -> None:
        part = await self._receive()
        if part["type"] != "http.request":
            raise Left
        self.data += part.get("body", b"")
        self._more = part.get("more_body", False)


async def give(send: Send, status: int, body: bytes = b"", headers: Headers = ()) -> None:
    """Send a whole answer."""
    own = [JSON] if body else []
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*own, length, *headers]})
    await send({"type": "http.response.body", "body": body})


def failure(code: int, sentence: str, id_: Id | None = None, data: Mapping[str, Any] | None = None) -> bytes:
    return write(Failure(id_, own_error(code, sentence, data)))
