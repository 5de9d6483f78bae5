"""Limits how many calls a server handles concurrently, and how many may queue for it."""

from collections import deque
from types import TracebackType

import anyio

from mcpguard.domain.errors import GuardError


class Busy(GuardError):
    """Too many calls are waiting for the server already."""


class CallSlots:
    """The slots of a server. A call without a free slot waits in a queue of bounded length, or raises Busy.

    `async with slots:` takes a slot.
    """

    def __init__(self, places: int, line: int) -> None:
        self.taken = 0
        self.places = places
        self._longest = line
        self._line: deque[anyio.Event] = deque()

    def limit(self, places: int) -> None:
        """Change the number of slots. Calls in progress keep theirs, also beyond the new number."""
        self.places = places
        self._call_in()

    async def __aenter__(self) -> None:
        # In turn: a call that comes now must not overtake those that wait.
        if self.taken < self.places and not self._line:
            self.taken += 1
            return
        if len(self._line) >= self._longest:
            raise Busy(f"{len(self._line)} calls are waiting for this server already; retry later")
        called = anyio.Event()
        # Bounded above, or a slow server would collect waiting calls, with their arguments, without end.
        self._line.append(called)
        came = False
        try:
            await called.wait()
            came = True
        finally:
            if not came:
                self._leave(called)

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._give_back()

    def send_away(self) -> None:
        """Wake every waiting call at once, so that it can take a slot at another connection."""
        while self._line:
            self.taken += 1
            self._line.popleft().set()

    def step_aside(self) -> bool:
        """Give up a slot for a while; if this returns true, `come_back` has to be called later.

        The only slot of a server stays taken: whatever the server asks meanwhile must belong to this call alone, or one
        client could be asked on another one's account.
        """
        if self.places == 1:
            return False
        self._give_back()
        return True

    def come_back(self) -> None:
        """Take the slot again at once, even if that makes one too many for a while."""
        self.taken += 1

    def _leave(self, called: anyio.Event) -> None:
        if called.is_set():
            # Cancelled just when its turn came: the slot is taken already, and would be lost for ever.
            self._give_back()
        else:
            self._line.remove(called)

    def _give_back(self) -> None:
        self.taken -= 1
        self._call_in()

    def _call_in(self) -> None:
        while self._line and self.taken < self.places:
            self.taken += 1
            self._line.popleft().set()
