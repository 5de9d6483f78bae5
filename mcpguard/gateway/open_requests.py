"""What is open in the name of each caller, so that it can be ended when the caller is revoked.

Calls that are cut off get a moment to say so in their answers. What has not ended by then is cancelled.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import anyio

LAST_WORDS: Final = 0.5
"""Seconds."""


class OpenRequests:
    """The open requests and streams of one door."""

    def __init__(self) -> None:
        self._of: dict[str, set[anyio.CancelScope]] = {}

    @contextmanager
    def hold_open(self, caller: str) -> Iterator[anyio.CancelScope]:
        """Count the block as open in the caller's name; revoking the caller leaves it."""
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

    def end_caller(self, caller: str) -> None:
        """End everything open in this caller's name within half a second."""
        for scope in self._of.get(caller, ()):
            scope.deadline = min(scope.deadline, anyio.current_time() + LAST_WORDS)
