"""Parses messages from servers without blocking the rest of the guard.

A server can craft a message that takes seconds to parse; only callers of that server wait for it.
"""

from functools import partial

import anyio
import anyio.to_thread

from mcpguard.codec.messages import Message, read
from mcpguard.upstreams.exchange.conversation import Bounds

LARGE = 128 * 1024
"""Bytes. Smaller messages are parsed at once: starting a thread would cost more than parsing them can."""


class ServerMessageReader:
    """Parses the messages of one server, the large ones one after the other in a thread."""

    def __init__(self, bounds: Bounds) -> None:
        self._read = partial(read, max_bytes=bounds.message_bytes, max_depth=bounds.depth)
        self._turn = anyio.CapacityLimiter(1)

    async def read(self, data: bytes) -> Message:
        """Return the message in `data`. Raises BadMessage."""
        if len(data) <= LARGE:
            return self._read(data)
        # One thread for each server: otherwise a single server with many large messages would occupy the whole pool.
        return await anyio.to_thread.run_sync(self._read, data, limiter=self._turn, abandon_on_cancel=True)
