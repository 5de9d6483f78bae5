"""A stream of messages as a response: one JSON object, or server-sent events."""

from collections.abc import Awaitable, Callable
from enum import StrEnum

import anyio

from tests.simulators.asked import Reply
from tests.simulators.streams import Stream, dumped, event
from tests.simulators.web import HttpReply, Receive, Send, begin, send_reply, until_gone
from tests.simulators.words import (
    CLIENT_CAPABILITIES,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PROTOCOL_VERSION,
    UNSUPPORTED_VERSION,
    HangUp,
    Json,
    RpcError,
    Say,
    Torn,
    failure,
)

JSON_HEADERS = {"content-type": "application/json"}
SSE_HEADERS = {"content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no"}
STATUS = {HEADER_MISMATCH: 400, MISSING_CAPABILITY: 400, UNSUPPORTED_VERSION: 400, METHOD_NOT_FOUND: 404}


class Replies(StrEnum):
    """How requests are answered. AUTO: as JSON, unless something is said before the answer."""

    AUTO = "auto"
    JSON = "json"
    SSE = "sse"


def rejection(id_: object, error: RpcError, status: int = 400) -> HttpReply:
    """An error that HTTP says too."""
    return HttpReply(status, JSON_HEADERS, dumped(failure(id_, error)))


def status_of(request: Json, reply: Reply) -> int:
    """The status that a modern server gives to this answer."""
    if not isinstance(reply, dict) or "error" not in reply:
        return 200
    meta = (request.get("params") or {}).get("_meta") or {}
    whole = PROTOCOL_VERSION in meta and CLIENT_CAPABILITIES in meta
    code = reply["error"]["code"]
    return 400 if code == INVALID_PARAMS and not whole else STATUS.get(code, 200)


async def heard(send: Callable[[], Awaitable[None]], receive: Receive) -> bool:
    """Send, for as long as somebody listens. Whether it was sent to the end."""
    sent = False
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            await until_gone(receive)
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch, name="is the client still there")
        await send()
        sent = True
        tasks.cancel_scope.cancel()
    return sent


async def respond(send: Send, stream: Stream, replies: Replies, headers: dict[str, str], *, ids: bool) -> None:
    """A legacy answer: it is always 200, so a response of events can begin before anything was said."""
    if replies is Replies.AUTO:
        await stream.first()
    if replies is Replies.SSE or (replies is Replies.AUTO and stream.answer != 0):
        await send_events(send, stream, headers, ids=ids)
    else:
        await send_json(send, stream, 200, headers)


async def respond_modern(send: Send, stream: Stream, replies: Replies, request: Json) -> None:
    """A modern answer: what was said first decides on the status, and whether there is one."""
    await stream.first()
    status = status_of(request, stream.said[0]) if stream.said else 200
    if status == 200 and (replies is Replies.SSE or (replies is Replies.AUTO and stream.answer != 0)):
        await send_events(send, stream, {}, ids=False)
    else:
        await send_json(send, stream, status, {})


async def send_json(send: Send, stream: Stream, status: int, headers: dict[str, str]) -> None:
    """The answer alone. What was said before it is lost, or was said elsewhere."""
    await stream.finished()
    if stream.answer is None:
        await send_reply(send, HttpReply(202, headers))  # taken, and nothing will be said
        return
    said = stream.said[stream.answer]
    await send_reply(send, HttpReply(status, JSON_HEADERS | headers, dumped(said), torn=isinstance(said, Torn)))


async def send_events(
    send: Send,
    stream: Stream,
    headers: dict[str, str],
    first: int = 0,
    *,
    ids: bool,
    delivered: Callable[[int], None] = lambda _: None,
) -> None:
    """Everything said from `first` on, until the answer."""
    await begin(send, 200, SSE_HEADERS | headers)
    async for at, said in stream.follow(first):
        data = event(said, f"{stream.name}-{at}" if ids else None)
        await send({"type": "http.response.body", "body": data, "more_body": True})
        delivered(at)
        if isinstance(said, Torn):
            return  # a response without an end is a connection that breaks off
        if isinstance(said, HangUp):
            break
    await send({"type": "http.response.body"})


def aside(stream: Stream, replies: Replies, elsewhere: Say) -> Say:
    """Where what is said before an answer goes: a JSON response has no room for it."""
    return elsewhere if replies is Replies.JSON else stream.say
