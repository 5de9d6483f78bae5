"""Reading from one who may say more than can be read, without keeping the others waiting.

Time that is spent on one server in one go, without anybody else having had a turn, is given back: it has to wait three
times as long before more is read. So even one that never stops talking takes no more than a quarter of the time; and
one that waits for its answers to be used, as servers do, never notices.
"""

import os
import time

import anyio

from mcpguard.upstreams.process.child import PipeClosed, read

GO = 0.0005
GIVEN_BACK = 3
FREE_READS = 16


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
        """What has come, at least a byte. Raises PipeClosed when nothing more will."""
        await self.give_way()
        try:
            data = os.read(pipe, size)
        except BlockingIOError:
            data = await read(pipe, size)
            self.begin()
        except OSError as error:
            raise PipeClosed from error
        if not data:
            raise PipeClosed
        return data


class ConnectionTurns:
    """The turns of one server, however many connections it has: each of them comes after the one before."""

    def __init__(self) -> None:
        self._next = 0.0

    async def give_back(self, spent: float) -> None:
        """Wait for as long as this costs, and until everyone of this server who came before has waited."""
        self._next = max(self._next, anyio.current_time()) + GIVEN_BACK * spent
        await anyio.sleep_until(self._next)


class Work:
    """What reading from one connection has cost and was not given back yet. Waiting for the server gives back.

    What is measured between two looks may hold the work of others: whoever is resumed in between is not told apart. So
    the first reads of an answer cost nothing. An ordinary answer ends with them; one that has no end does not.
    """

    def __init__(self, turns: ConnectionTurns) -> None:
        self._turns = turns
        self._spent = 0.0
        self._since = time.thread_time()
        self._waiting_since = 0.0
        self._free = FREE_READS

    async def give_way(self) -> None:
        """To be called between two small parts of the work."""
        self._count()
        if self._spent > GO:
            spent, self._spent = self._spent, 0.0
            await self._turns.give_back(spent)
            self._since = time.thread_time()

    def begin(self) -> None:
        """A request goes out: what was done meanwhile was for others."""
        self._since = time.thread_time()
        self._spent = 0.0
        self._free = FREE_READS

    def wait(self) -> None:
        """Nothing is done for this connection from now on, until something has come."""
        self._count()
        self._waiting_since = time.monotonic()

    def come(self) -> None:
        """Something has come. Of the time until then only that counts in which nobody had anything to do."""
        self._free = max(0, self._free - 1)
        now = time.thread_time()
        idle = time.monotonic() - self._waiting_since - (now - self._since)
        self._spent = max(0.0, self._spent - max(0.0, idle) / GIVEN_BACK)
        self._since = now

    def _count(self) -> None:
        now = time.thread_time()
        if not self._free:
            self._spent += now - self._since
        self._since = now
