"""How long to wait before the next attempt: longer each time, and never all at the same moment."""

from collections.abc import Callable

Jitter = Callable[[], float]
"""A number from 0 up to, and without, 1."""


class Backoff:
    """Doubles from `first` to `most` seconds; each wait is drawn from its upper half."""

    def __init__(self, first: float, most: float, jitter: Jitter) -> None:
        self._first = min(first, most)
        self._most = most
        self._jitter = jitter
        self._ceiling = self._first

    def next(self) -> float:
        ceiling = self._ceiling
        self._ceiling = min(self._ceiling * 2, self._most)
        return ceiling * (0.5 + self._jitter() / 2)

    def reset(self) -> None:
        """It went well for long enough; begin with short waits again."""
        self._ceiling = self._first
