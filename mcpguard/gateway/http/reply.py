"""An answer that is a stream of events, because something has to be sent before it.

Rules kept here:
1. Whoever sends something meanwhile never waits for the client, and the answer comes after all of it.
2. A task writes what waits. It ends with its request.
"""

import asyncio
from typing import TYPE_CHECKING

import anyio

from mcpguard.codec.messages import Notification, Request, write
from mcpguard.gateway.outbox import Outbox

if TYPE_CHECKING:
    from mcpguard.gateway.http.exchange import HttpExchange

STREAM = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
KEEP_ALIVE = b": \n\n"


def event(message: bytes) -> bytes:
    """Return a message as a server-sent event. The JSON written here has no line breaks."""
    return b"event: message\ndata: " + message + b"\n\n"


class EventStream:
    """The stream of one request, which begins with the first message that is sent before the answer."""

    def __init__(self, exchange: "HttpExchange") -> None:
        self._exchange = exchange
        self._outbox = Outbox()
        self._sent = anyio.Event()
        self._task = asyncio.get_running_loop().create_task(self._pump(), name="stream of an answer")
        self._task.add_done_callback(self._leave_if_failed)

    def give_sign(self) -> None:
        """Send a sign of life, unless something else is about to be sent."""
        if self._outbox.is_empty:
            self._outbox.put(KEEP_ALIVE)

    def say(self, said: Notification | Request) -> None:
        """Send a message."""
        if isinstance(said, Request):
            self._outbox.add(event(write(said)))  # somebody waits for the answer to it
        else:
            self._outbox.put(event(write(said)))

    async def finish(self, message: bytes) -> None:
        """Send the answer, and nothing after it."""
        self._outbox.close()
        await self._sent.wait()
        await self._exchange.send_part(event(message))
        self._exchange.end_stream()

    async def end(self) -> None:
        """End the task that writes. Raises what it has failed with."""
        with anyio.CancelScope(shield=True):
            self._task.cancel()
            await asyncio.wait([self._task])
        if not self._task.cancelled() and (error := self._task.exception()) is not None:
            raise error

    def _leave_if_failed(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._exchange.leave()  # the answer cannot be sent any more

    async def _pump(self) -> None:
        await self._exchange.room()
        self._exchange.begin_stream()
        while True:
            await self._outbox.wait()
            if waiting := self._outbox.take():
                await self._exchange.send_part(waiting)
            elif self._outbox.closed:
                break
        self._sent.set()
