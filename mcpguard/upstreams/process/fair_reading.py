"""Limits how much time the guard spends reading from one server, so that no server starves others.

A server may send faster than the guard can read (a denial of service). After the guard has read from one server for
some time without other tasks having had a turn, it waits three times as long before it reads more. So a server that
never stops sending takes at most a quarter of the time, and one that waits for its replies to be used, as servers do,
never notices.
"""

import os
import time

import anyio

from mcpguard.upstreams.process.child import PipeClosed, read

GO = 0.0005
GIVEN_BACK = 3
FREE_READS = 16


class Share:
    """Measures how long one server is read in one go: in CPU time of the guard, so a busy host is nobody's fault."""

    def __init__(self) -> None:
        self._began = time.thread_time()

    def begin(self) -> None:
        """Start measuring anew: other tasks have had their turn."""
        self._began = time.thread_time()

    def owe(self, spent: float) -> None:
        """Count what was spent on this server elsewhere."""
        self._began -= spent

    async def give_way(self) -> None:
        """Wait, if this server has had more than its share. To be called before more is read."""
        spent = time.thread_time() - self._began
        if spent > GO:
            await anyio.sleep(GIVEN_BACK * spent)
            self.begin()

    async def read(self, pipe: int, size: int) -> bytes:
        """Return what has come, at least one byte. Raises PipeClosed at the end."""
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
    """The turns of one server, however many connections it has: they wait one after the other, not at once."""

    def __init__(self) -> None:
        self._next = 0.0

    async def give_back(self, spent: float) -> None:
        """Wait three times as long as was spent, after every earlier wait for the same server."""
        # One queue for all connections of a server: with many connections it would otherwise get many shares.
        self._next = max(self._next, anyio.current_time()) + GIVEN_BACK * spent
        await anyio.sleep_until(self._next)


class Work:
    """Measures what reading from one connection has cost and was not given back yet. Waiting for the server gives back.

    The time between two measurements may include the work of other tasks that ran in between. So the first reads of an
    answer are free. An ordinary answer ends with them; one without an end does not.
    """

    def __init__(self, turns: ConnectionTurns) -> None:
        self._turns = turns
        self._spent = 0.0
        self._since = time.thread_time()
        self._waiting_since = 0.0
        self._free = FREE_READS

    async def give_way(self) -> None:
        """Wait, if this connection has had more than its share. To be called between two small parts of the work."""
        self._count()
        if self._spent > GO:
            spent, self._spent = self._spent, 0.0
            await self._turns.give_back(spent)
            self._since = time.thread_time()

    def charge(self, spent: float) -> None:
        """Count what was spent on this connection while it was waited for."""
        if not self._free:
            self._spent += spent

    def wait(self) -> None:
        """Note that nothing is done for this connection from now on, until data comes."""
        self._count()
        self._waiting_since = time.monotonic()

    def come(self) -> None:
        """Note that data has come. Of the time until then, only the idle time counts as given back."""
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
