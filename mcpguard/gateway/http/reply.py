"""The answer to one POST: one JSON message, or a stream if something else has to be sent before it.

Rules kept here:
1. Whoever sends something meanwhile never waits for the client, and the answer comes after all of it.
2. A client that hears nothing for long is sent a sign of life, so that no proxy closes the connection.
3. Most answers come at once. Whether the client disconnects is watched only when one does not: a task for that on each
   request would cost more than much of the rest.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

import anyio
from starlette.types import Receive, Send

from mcpguard.codec.messages import Failure, Notification, Request, Result, write
from mcpguard.gateway.client_request import Say
from mcpguard.gateway.http.plain import Headers, send_answer
from mcpguard.gateway.open_requests import OpenRequest
from mcpguard.gateway.outbox import Outbox

STREAM = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
KEEP_ALIVE = b": \n\n"
PROMPT_SECONDS = 0.02
Work = Callable[[Say], Awaitable[Result | Failure]]
Statuses = Mapping[int, int]
"""The HTTP status for the code of an error; 200 for all others, as for a result."""


def event(message: bytes) -> bytes:
    """Return a message as a server-sent event. The JSON written here has no line breaks."""
    return b"event: message\ndata: " + message + b"\n\n"


async def reply(
    here: OpenRequest,
    receive: Receive,
    send: Send,
    work: Work,
    headers: Headers = (),
    *,
    statuses: Statuses,
    left: Callable[[], None],
    quiet: float,
) -> None:
    """Do the work and send the message that it returns. `left` is called if the client disconnects first."""
    answer = _Answer(here, send, tuple(headers))
    later = asyncio.get_running_loop().call_later(PROMPT_SECONDS, answer.watch, receive, left, quiet)
    try:
        said = await work(answer.say)
        status = statuses.get(said.error["code"], 200) if isinstance(said, Failure) else 200
        await answer.finish(status, write(said))
    finally:
        later.cancel()
        if answer.tasks:
            await answer.end_tasks()


class _Answer:
    """The answer to one request. `tasks` are what runs beside its work: none for an ordinary call."""

    def __init__(self, here: OpenRequest, send: Send, headers: Headers) -> None:
        self.tasks: list[asyncio.Task[None]] = []
        self._here = here
        self._send = send
        self._headers = headers
        self._outbox: Outbox | None = None
        self._sent = anyio.Event()

    def say(self, said: Notification | Request) -> None:
        if isinstance(said, Request):
            self._stream().add(event(write(said)))  # somebody waits for the answer to it
        else:
            self._stream().put(event(write(said)))

    async def finish(self, status: int, message: bytes) -> None:
        if self._outbox is None:
            await send_answer(self._send, status, message, self._headers)
            return
        self._outbox.close()
        await self._sent.wait()
        await self._send({"type": "http.response.body", "body": event(message)})

    def watch(self, receive: Receive, left: Callable[[], None], seconds: float) -> None:
        """Notice from now on that the client disconnects, and that nothing was sent for long."""
        self._begin(self._watch(receive, left, seconds), "whether a client leaves")

    async def end_tasks(self) -> None:
        """End what runs beside the work. Raises what one of the tasks has failed with."""
        with anyio.CancelScope(shield=True):
            for task in self.tasks:
                task.cancel()
            await asyncio.wait(self.tasks)
        for task in self.tasks:
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error

    def _begin(self, coroutine: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        task.add_done_callback(self._leave_if_failed)
        self.tasks.append(task)

    def _leave_if_failed(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._here.leave()  # the answer cannot be sent any more

    async def _watch(self, receive: Receive, left: Callable[[], None], seconds: float) -> None:
        while True:
            with anyio.move_on_after(seconds) as quiet:
                if (await receive())["type"] == "http.disconnect":
                    left()
                    return
            if quiet.cancelled_caught:
                self._stream().put(KEEP_ALIVE)

    def _stream(self) -> Outbox:
        if self._outbox is None:
            self._outbox = Outbox()
            self._begin(self._pump(self._outbox), "stream of an answer")
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
