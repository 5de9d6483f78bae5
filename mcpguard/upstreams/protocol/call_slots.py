"""How many calls a server works on at once, and how many may wait for it."""

from collections import deque
from types import TracebackType

import anyio

from mcpguard.domain.errors import GuardError


class Busy(GuardError):
    """Too many calls wait for the server already."""


class CallSlots:
    """Places at a server. Who finds none waits in a line of bounded length; who finds that full is sent away.

    `async with turns:` takes a place.
    """

    def __init__(self, places: int, line: int) -> None:
        self.taken = 0
        self.places = places
        self._longest = line
        self._line: deque[anyio.Event] = deque()

    def limit(self, places: int) -> None:
        """From now on there are so many. Nobody is sent away; who finds none waits."""
        self.places = places
        self._call_in()

    async def __aenter__(self) -> None:
        if self.taken < self.places and not self._line:
            self.taken += 1
            return
        if len(self._line) >= self._longest:
            raise Busy(f"{len(self._line)} calls wait for this server already")
        called = anyio.Event()
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
        """Whoever waits comes up at once, to find a place elsewhere."""
        while self._line:
            self.taken += 1
            self._line.popleft().set()

    def step_aside(self) -> bool:
        """Whoever has a place lets others have it for a while, and says `come_back` later; if this returns true.

        Where there is one place only it stays taken: what the server says in the meantime must belong to nobody else.
        """
        if self.places == 1:
            return False
        self._give_back()
        return True

    def come_back(self) -> None:
        """At once, even if that makes one too many for a while."""
        self.taken += 1

    def _leave(self, called: anyio.Event) -> None:
        if called.is_set():
            self._give_back()  # the place was ours by now
        else:
            self._line.remove(called)

    def _give_back(self) -> None:
        self.taken -= 1
        self._call_in()

    def _call_in(self) -> None:
        while self._line and self.taken < self.places:
            self.taken += 1
            self._line.popleft().set()
