"""Hands out a bounded number of turns, so that nobody who asks often keeps others waiting."""

from collections import deque

import anyio


class FairTurns:
    """A number of turns. Whoever waits gets one in the order of asking, but all who ask take turns."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._waiting: dict[str, deque[anyio.Event]] = {}

    async def take(self, whose: str) -> None:
        """Wait for a turn. It has to be given back."""
        if self._free:
            self._free -= 1
            return
        mine = anyio.Event()
        self._waiting.setdefault(whose, deque()).append(mine)
        is_here = False
        try:
            await mine.wait()
            is_here = True
        finally:
            if not is_here:
                self._leave(whose, mine)

    def give_back(self) -> None:
        """Give a turn to the one who waits next."""
        if not self._waiting:
            self._free += 1
            return
        whose = next(iter(self._waiting))
        theirs = self._waiting.pop(whose)
        theirs.popleft().set()
        if theirs:
            self._waiting[whose] = theirs  # behind all others

    def _leave(self, whose: str, turn: anyio.Event) -> None:
        if turn.is_set():  # cancelled in the moment in which it came
            self.give_back()
            return
        theirs = self._waiting[whose]
        theirs.remove(turn)
        if not theirs:
            del self._waiting[whose]
