"""Exponential backoff with jitter: the pauses between attempts grow, and servers are not all retried at once."""

from collections.abc import Callable

Jitter = Callable[[], float]
"""Returns a random number from 0 up to, but not including, 1."""


class Backoff:
    """Doubles from `first` to `most` seconds; each pause is drawn from the upper half of the current value."""

    def __init__(self, first: float, most: float, jitter: Jitter) -> None:
        self._first = min(first, most)
        self._most = most
        self._jitter = jitter
        self._ceiling = self._first

    def next(self) -> float:
        ceiling = self._ceiling
        self._ceiling = min(self._ceiling * 2, self._most)
        # Random: servers that failed together, for example with a network, would otherwise be tried together for ever.
        return ceiling * (0.5 + self._jitter() / 2)

    def reset(self) -> None:
        """Begin with short pauses again."""
        self._ceiling = self._first
