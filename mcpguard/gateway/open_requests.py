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
        self.callers: dict[anyio.CancelScope, str] = {}
        """In whose name each scope is open. Revoking the caller leaves the scope."""

    @contextmanager
    def hold_open(self, caller: str) -> Iterator[None]:
        """Count the block as open in the caller's name; revoking the caller leaves it."""
        scope = anyio.CancelScope()
        self.callers[scope] = caller
        try:
            with scope:
                yield
        finally:
            del self.callers[scope]

    def end_caller(self, caller: str) -> None:
        """End everything open in this caller's name within half a second."""
        for scope, of in self.callers.items():
            if of == caller:
                scope.deadline = min(scope.deadline, anyio.current_time() + LAST_WORDS)
