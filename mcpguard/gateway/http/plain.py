"""Answers over HTTP that are one JSON message, and the reading of requests."""

from collections.abc import Iterable
from typing import Any

from starlette.types import Receive, Scope, Send

from mcpguard.codec.messages import Failure, Id, Message, read, write
from mcpguard.domain.errors import GuardError

JSON = (b"content-type", b"application/json")
Headers = Iterable[tuple[bytes, bytes]]


class Left(GuardError):
    """The client has left before it had said everything."""


class Turned(GuardError):
    """A request that is answered at once. `reason` is a word of ours, for counting."""

    def __init__(self, status: int, code: int, sentence: str, reason: str, data: object = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.reason = reason
        self.data = data


def header(scope: Scope, name: bytes) -> str | None:
    """The value of a header that is there exactly once or not at all; of several, the first."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None


async def message(receive: Receive, limit: int, depth: int) -> Message:
    """The message in the body. Raises BadMessage, or Left."""
    body = b""
    while True:
        part = await receive()
        if part["type"] != "http.request":
            raise Left
        body += part.get("body", b"")
        if not part.get("more_body"):
            return read(body, max_bytes=limit, max_depth=depth)


async def give(send: Send, status: int, body: bytes = b"", headers: Headers = ()) -> None:
    """Send a whole answer."""
    own = [JSON] if body else []
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*own, length, *headers]})
    await send({"type": "http.response.body", "body": body})


def failure(code: int, sentence: str, id_: Id | None = None, data: object = None) -> bytes:
    error: dict[str, Any] = {"code": code, "message": sentence}
    return write(Failure(id_, error if data is None else error | {"data": data}))
