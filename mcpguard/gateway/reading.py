"""Reading what agents send. A message can be made so that it takes a second to read; nobody else waits for that."""

from functools import partial

import anyio
import anyio.to_thread

from mcpguard.codec.messages import Message, read
from mcpguard.settings.limits import Limits

LARGE = 128 * 1024
"""Bytes; smaller messages are read at once, because a thread costs more than they can."""


class Reader:
    """Reads messages, the large ones one after the other in a thread."""

    def __init__(self, limits: Limits) -> None:
        self._read = partial(read, max_bytes=limits.body_bytes, max_depth=limits.depth)
        self._turn = anyio.CapacityLimiter(1)

    async def read(self, data: bytes) -> Message:
        """The message in `data`. Raises BadMessage."""
        if len(data) <= LARGE:
            return self._read(data)
        return await anyio.to_thread.run_sync(self._read, data, limiter=self._turn)
