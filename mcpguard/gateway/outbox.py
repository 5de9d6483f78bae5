"""Messages on their way to a client that may be slow.

Rules kept here:
1. Nobody who has something to send waits for a client that does not read.
2. The queue is bounded. Beyond that, news is dropped, oldest first. Answers are never dropped: whoever reads requests
   waits for `room` before reading more.
"""

from collections import deque

import anyio

MOST = 256
MOST_BYTES = 1024 * 1024


class Outbox:
    """A queue of messages with one reader."""

    def __init__(self) -> None:
        self.dropped = 0
        self._messages: deque[tuple[bytes, bool]] = deque()
        self._news = 0
        self._news_bytes = 0
        self._bytes = 0
        self._closed = False
        self._more = anyio.Event()
        self._less = anyio.Event()

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def is_empty(self) -> bool:
        return not self._messages

    def put(self, message: bytes) -> None:
        """Add news, which may be dropped."""
        if self._closed:
            return
        while self._news and (self._news >= MOST or self._news_bytes + len(message) > MOST_BYTES):
            self._drop_oldest()
        self._news += 1
        self._news_bytes += len(message)
        self._add(message, is_news=True)

    def add(self, message: bytes) -> None:
        """Add an answer, which is never dropped."""
        if not self._closed:
            self._add(message, is_news=False)

    def take(self) -> bytes:
        """Remove and returns everything that waits, in order."""
        taken = b"".join(message for message, _ in self._messages)
        self._messages.clear()
        self._news = self._news_bytes = self._bytes = 0
        self._less.set()
        return taken

    def close(self) -> None:
        """End the queue: nothing more is added."""
        self._closed = True
        self._more.set()
        self._less.set()

    async def wait(self) -> None:
        """Wait until there is a message or the queue is closed."""
        while not self._messages and not self._closed:
            self._more = anyio.Event()
            await self._more.wait()

    async def room(self) -> None:
        """Wait until there is room for an answer."""
        while self._bytes > MOST_BYTES and not self._closed:
            self._less = anyio.Event()
            await self._less.wait()

    def _add(self, message: bytes, *, is_news: bool) -> None:
        self._messages.append((message, is_news))
        self._bytes += len(message)
        self._more.set()

    def _drop_oldest(self) -> None:
        for place, (message, is_news) in enumerate(self._messages):
            if is_news:
                del self._messages[place]
                self._news -= 1
                self._news_bytes -= len(message)
                self._bytes -= len(message)
                self.dropped += 1
                return
