"""HTTP as the simulators speak it: requests and replies as they are, and a socket that they come in on.

uvicorn's protocol runs on the test's own event loop. Its server is left out: that one polls and waits, catches signals,
and would make every test a fifth of a second longer.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast
from urllib.parse import parse_qs

import anyio
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Gone(Exception):
    """The client has closed the connection."""


@dataclass(frozen=True)
class HttpRequest:
    """A request with its whole body. Names of headers are lower case; of several of one name the last is kept."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class HttpReply:
    """A whole response, whatever it is. With `torn`, the connection breaks off after its body."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    torn: bool = False


async def taken(scope: Scope, receive: Receive) -> HttpRequest:
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body += message.get("body", b"")
        more = message.get("more_body", False)
    headers = {name.decode().lower(): value.decode("latin-1").strip() for name, value in scope["headers"]}
    query = {name: values[-1] for name, values in parse_qs(scope["query_string"].decode()).items()}
    return HttpRequest(scope["method"], scope["path"], query, headers, bytes(body))


async def send_reply(send: Send, reply: HttpReply) -> None:
    length = len(reply.body) + (1000 if reply.torn else 0)
    headers = {"content-length": str(length)} | reply.headers
    await begin(send, reply.status, headers)
    await send({"type": "http.response.body", "body": reply.body, "more_body": reply.torn})


async def begin(send: Send, status: int, headers: dict[str, str]) -> None:
    pairs = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})


async def until_gone(receive: Receive) -> None:
    """Wait until the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


@asynccontextmanager
async def served(app: App, port: int = 0) -> AsyncIterator[int]:
    """The application on a port of the loopback. What it is still doing at the end is cut off.

    A port that is given may be reserved by a socket that only bound it, and allowed others to (SO_REUSEPORT).
    """
    config = uvicorn.Config(
        cast("Any", app), http="h11", ws="none", lifespan="off", log_config=None, access_log=False, date_header=False
    )
    config.load()
    state = ServerState()
    bound = socket.create_server(("127.0.0.1", port), backlog=128, reuse_port=bool(port))
    protocol = partial(H11Protocol, config=config, server_state=state, app_state={})
    server = await asyncio.get_running_loop().create_server(protocol, sock=bound)
    try:
        yield bound.getsockname()[1]
    finally:
        with anyio.CancelScope(shield=True):
            server.close()
            await _cut_off(state)


async def _cut_off(state: ServerState) -> None:
    for connection in list(state.connections):
        cast("H11Protocol", connection).transport.abort()
    if state.tasks:
        await asyncio.wait(state.tasks, timeout=5)
    for task in list(state.tasks):
        task.cancel()
