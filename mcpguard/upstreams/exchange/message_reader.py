"""Reading what servers say. A message can be made so that it takes seconds to read.

Only who asked that server waits for it.
"""

from functools import partial

import anyio
import anyio.to_thread

from mcpguard.codec.messages import Message, read
from mcpguard.upstreams.exchange.conversation import Bounds

LARGE = 128 * 1024
"""Bytes; smaller messages are read at once, because a thread costs more than they can."""


class ServerMessageReader:
    """Reads the messages of one server, the large ones one after the other in a thread."""

    def __init__(self, bounds: Bounds) -> None:
        self._read = partial(read, max_bytes=bounds.message_bytes, max_depth=bounds.depth)
        self._turn = anyio.CapacityLimiter(1)

    async def read(self, data: bytes) -> Message:
        """The message in `data`. Raises BadMessage."""
        if len(data) <= LARGE:
            return self._read(data)
        return await anyio.to_thread.run_sync(self._read, data, limiter=self._turn, abandon_on_cancel=True)
