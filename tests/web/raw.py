"""Requests that no well-behaved client would send."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import httpx2
from starlette.types import ASGIApp, Message

Header = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `taken` is how much of the body had been asked for by then."""

    status: int
    headers: list[Header]
    body: bytes
    taken: int


def app_of(client: httpx2.AsyncClient) -> ASGIApp:
    """The application behind one of the World's clients."""
    app: ASGIApp = client._transport.app  # type: ignore[attr-defined]
    return app


async def ask(
    app: ASGIApp, headers: Iterable[Header], path: str = "/", method: str = "GET", body: Iterable[bytes] = ()
) -> Answer:
    """One request with exactly these headers and this body, piece by piece, as a server would hand it over."""
    pieces, taken, sent = iter(body), 0, list[Message]()

    async def receive() -> Message:
        nonlocal taken
        piece = next(pieces, None)
        taken += len(piece or b"")
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8080),
        "state": {},
    }
    await app(scope, receive, send)
    start, *rest = sent
    assert start["type"] == "http.response.start"
    assert all(message["type"] == "http.response.body" for message in rest)
    return Answer(
        start["status"],
        [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]],
        b"".join(message["body"] for message in rest),
        taken,
    )


def endless(piece: bytes = bytes(1000)) -> Iterator[bytes]:
    """A body that never ends."""
    while True:
        yield piece
