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
    """The scopes of the requests and streams that are open at one door."""

    def __init__(self) -> None:
        self._of: dict[str, set[anyio.CancelScope]] = {}

    def begin(self, caller: str, scope: anyio.CancelScope) -> None:
        """Count a scope, which is about to be entered, as open in the caller's name; revoking the caller leaves it."""
        self._of.setdefault(caller, set()).add(scope)

    def end(self, caller: str, scope: anyio.CancelScope) -> None:
        """Count a scope as open no more."""
        of = self._of[caller]
        of.discard(scope)
        if not of:
            del self._of[caller]

    @contextmanager
    def hold_open(self, caller: str) -> Iterator[None]:
        """Count the block as open in the caller's name; revoking the caller leaves it."""
        scope = anyio.CancelScope()
        self.begin(caller, scope)
        try:
            with scope:
                yield
        finally:
            self.end(caller, scope)

    def end_caller(self, caller: str) -> None:
        """End everything open in this caller's name within half a second."""
        for scope in self._of.get(caller, ()):
            scope.deadline = min(scope.deadline, anyio.current_time() + LAST_WORDS)
