"""Calls that are queued, parked or in flight, and how they end when what they are about leaves `approved`.

Rules kept here:
1. A call that is cut off is ended where it stands: what was not sent is not sent any more, the server is told that
   what was sent is taken back, and a late reply reaches nobody.
2. Whoever cuts does not wait; the calls end by themselves, each with its own closing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio

from mcpguard.domain.decisions import Key


class Cutting:
    """All calls that can be cut off."""

    def __init__(self) -> None:
        self._calls: dict[str, dict[anyio.CancelScope, Key]] = {}

    @contextmanager
    def call(self, server: str, key: Key) -> Iterator[anyio.CancelScope]:
        """A call about this capability runs in the block. `cancelled_caught` of what is given tells if it was cut."""
        of = self._calls.setdefault(server, {})
        scope = anyio.CancelScope()
        of[scope] = key
        try:
            with scope:
                yield scope
        finally:
            del of[scope]
            if not of:
                self._calls.pop(server, None)

    def cut(self, server: str, lost: Callable[[Key], bool]) -> None:
        """End the calls about what is lost of a server."""
        for scope, key in tuple(self._calls.get(server, {}).items()):
            if lost(key):
                scope.cancel()
