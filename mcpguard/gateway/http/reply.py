"""The answer to one POST: one JSON message, or a stream if something else has to be sent before it.

Rules kept here:
1. Whoever sends something meanwhile never waits for the client, and the answer comes after all of it.
2. A client that hears nothing for long is sent a sign of life, so that no proxy closes the connection.
3. Most answers come at once. Whether the client disconnects is watched only when one does not: a task for that on each
   request would cost more than much of the rest.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import anyio
from anyio.abc import TaskGroup
from starlette.types import Receive, Send

from mcpguard.codec.messages import Notification, Request, write
from mcpguard.gateway.client_request import Say
from mcpguard.gateway.http.plain import Headers, send_answer
from mcpguard.gateway.outbox import Outbox

STREAM = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
KEEP_ALIVE = b": \n\n"
PROMPT_SECONDS = 0.02
Work = Callable[[Say], Awaitable[tuple[int, bytes]]]


def event(message: bytes) -> bytes:
    """Return a message as a server-sent event. The JSON written here has no line breaks."""
    return b"event: message\ndata: " + message + b"\n\n"


async def reply(
    receive: Receive, send: Send, work: Work, headers: Headers, *, left: Callable[[], None] | None, quiet: float
) -> None:
    """Do the work and send the status and the message that it returns.

    `left` is called when the client disconnects first; without it, the work is cancelled then.
    """
    async with anyio.create_task_group() as tasks:
        answer = _Answer(send, tuple(headers), tasks)
        leave = left or tasks.cancel_scope.cancel
        watch = partial(tasks.start_soon, _watch, receive, answer, leave, quiet, name="whether a client leaves")
        later = asyncio.get_running_loop().call_later(PROMPT_SECONDS, watch)
        try:
            await answer.finish(*await work(answer.say))
        finally:
            later.cancel()
        tasks.cancel_scope.cancel()


async def _watch(receive: Receive, answer: "_Answer", leave: Callable[[], None], seconds: float) -> None:
    """Notice that the client disconnects, and that nothing was sent for long."""
    while True:
        with anyio.move_on_after(seconds) as quiet:
            if (await receive())["type"] == "http.disconnect":
                leave()
                return
        if quiet.cancelled_caught:
            answer.keep_alive()


class _Answer:
    def __init__(self, send: Send, headers: Headers, tasks: TaskGroup) -> None:
        self._send = send
        self._headers = headers
        self._tasks = tasks
        self._outbox: Outbox | None = None
        self._sent = anyio.Event()

    def say(self, said: Notification | Request) -> None:
        if isinstance(said, Request):
            self._stream().add(event(write(said)))  # somebody waits for the answer to it
        else:
            self._stream().put(event(write(said)))

    def keep_alive(self) -> None:
        self._stream().put(KEEP_ALIVE)

    async def finish(self, status: int, message: bytes) -> None:
        if self._outbox is None:
            await send_answer(self._send, status, message, self._headers)
            return
        self._outbox.close()
        await self._sent.wait()
        await self._send({"type": "http.response.body", "body": event(message)})

    def _stream(self) -> Outbox:
        if self._outbox is None:
            self._outbox = Outbox()
            self._tasks.start_soon(self._pump, self._outbox, name="stream of an answer")
        return self._outbox

    async def _pump(self, outbox: Outbox) -> None:
        await self._send({"type": "http.response.start", "status": 200, "headers": [*STREAM, *self._headers]})
        while True:
            await outbox.wait()
            if waiting := outbox.take():
                await self._send({"type": "http.response.body", "body": waiting, "more_body": True})
            elif outbox.closed:
                break
        self._sent.set()
