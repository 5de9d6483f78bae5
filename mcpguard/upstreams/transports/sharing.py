"""Reading from one who may say more than can be read, without keeping the others waiting.

Time that is spent on one server in one go, without anybody else having had a turn, is given back: it has to wait three
times as long before more is read. So even one that never stops talking takes no more than a quarter of the time; and
one that waits for its answers to be used, as servers do, never notices.
"""

import os
import time

import anyio

from mcpguard.upstreams.transports.child import Ended, read

GO = 0.0005
GIVEN_BACK = 3


class Share:
    """How long it has gone on with one server: counted in our own work, so that a busy machine is nobody's fault."""

    def __init__(self) -> None:
        self._began = time.thread_time()

    def begin(self) -> None:
        """The others have had their turn."""
        self._began = time.thread_time()

    async def give_way(self) -> None:
        """To be called before more is taken."""
        spent = time.thread_time() - self._began
        if spent > GO:
            await anyio.sleep(GIVEN_BACK * spent)
            self.begin()

    async def read(self, pipe: int, size: int) -> bytes:
        """What has come, at least a byte. Raises Ended when nothing more will."""
        await self.give_way()
        try:
            data = os.read(pipe, size)
        except BlockingIOError:
            data = await read(pipe, size)
            self.begin()
        except OSError as error:
            raise Ended from error
        if not data:
            raise Ended
        return data
