"""Who is here: what is open in the name of each caller, so that it can be ended when that is none any more.

A moment is left for last words: calls that were cut off say so in their answers. What has not ended by then is ended.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import anyio

LAST_WORDS: Final = 0.5
"""Seconds."""


class Guests:
    """The open requests and streams of one door."""

    def __init__(self) -> None:
        self._of: dict[str, set[anyio.CancelScope]] = {}

    @contextmanager
    def here(self, caller: str) -> Iterator[anyio.CancelScope]:
        """Something of this caller's is open in the block, which is left if it has to end."""
        scope = anyio.CancelScope()
        self._of.setdefault(caller, set()).add(scope)
        try:
            with scope:
                yield scope
        finally:
            of = self._of[caller]
            of.discard(scope)
            if not of:
                del self._of[caller]

    def lost(self, caller: str) -> None:
        """Whatever is open in this name ends, very soon."""
        for scope in self._of.get(caller, ()):
            scope.deadline = min(scope.deadline, anyio.current_time() + LAST_WORDS)
