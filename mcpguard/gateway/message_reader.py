"""Reads what agents send. A message can be built so that parsing it takes long; nobody else waits for that.

Rules kept here:
1. A large message is parsed in a thread, and only after its values were counted.
2. Few large messages are held at once, few of one caller and not many of all: a further one waits unread.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import anyio
import anyio.to_thread

from mcpguard.codec.messages import BadMessage, Message, read
from mcpguard.settings.guard_groups import LimitSettings

LARGE: Final = 64 * 1024
"""Bytes; smaller messages are read at once, because a thread costs more than they can."""
OF_ONE: Final = 2
OF_ALL: Final = 8


class AgentMessageReader:
    """Parses messages, the large ones one after the other in a thread."""

    def __init__(self, limits: LimitSettings) -> None:
        self.read_small: Callable[[bytes | bytearray], Message] = partial(
            read, max_bytes=limits.body_bytes, max_depth=limits.depth, max_values=limits.values
        )
        """Returns the message in data that is not large. Raises BadMessage."""
        self._turn = anyio.CapacityLimiter(1)
        self._of_all = anyio.CapacityLimiter(OF_ALL)
        self._of: dict[str, anyio.CapacityLimiter] = {}

    async def read(self, data: bytes | bytearray) -> Message:
        """Return the message in `data`. Raises BadMessage."""
        if len(data) <= LARGE:
            return self.read_small(data)
        found = await anyio.to_thread.run_sync(self._found, data, limiter=self._turn)
        if isinstance(found, Message):
            return found
        try:
            raise found
        finally:
            del found  # it knows this frame, and the frame it: the message would be kept with them

    def _found(self, data: bytes | bytearray) -> Message | BadMessage:
        """Return the message, or the error without its traceback: an error raised in a thread would keep the whole
        message alive.
        """
        try:
            return self.read_small(data)
        except BadMessage as bad:
            return bad.with_traceback(None)

    @asynccontextmanager
    async def large(self, caller: str) -> AsyncIterator[None]:
        """Wait for room for a large message of this caller, and holds it."""
        own = self._of.setdefault(caller, anyio.CapacityLimiter(OF_ONE))
        try:
            async with own, self._of_all:
                yield
        finally:
            if not own.borrowed_tokens and not own.statistics().tasks_waiting:
                self._of.pop(caller, None)
