"""Calls that are queued, parked or in flight, and how they end when what they are about leaves `approved`, or when
whoever makes them is no caller any more.

Rules kept here:
1. A call that is cut off is ended where it stands: what was not sent is not sent any more, the server is told that
   what was sent is taken back, and a late reply reaches nobody.
2. Whoever cuts does not wait; the calls end by themselves, each with its own closing.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio

from mcpguard.domain.decisions import Key


class _Call:
    """A call that runs in the block, which is left when the call is cut off."""

    def __init__(self, of: "Cutting", server: str, key: Key, caller: str) -> None:
        self.key = key
        self.caller = caller
        self.by_caller = False
        """Whether it was cut off because whoever makes it is no caller any more."""
        self.scope = anyio.CancelScope()
        self._of = of
        self._server = server

    def __enter__(self) -> Self:
        self._of.begin(self._server, self)
        self.scope.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._of.end(self._server, self)
        return bool(self.scope.__exit__(kind, error, trace))


class Cutting:
    """All calls that can be cut off."""

    def __init__(self) -> None:
        self._calls: dict[str, set[_Call]] = {}

    def call(self, server: str, key: Key, caller: str) -> _Call:
        """A call of this caller about this capability, to be made in a `with` block."""
        return _Call(self, server, key, caller)

    def cut(self, server: str, lost: Callable[[Key], bool]) -> None:
        """End the calls about what is lost of a server."""
        for call in tuple(self._calls.get(server, ())):
            if lost(call.key):
                call.scope.cancel()

    def cut_off(self, caller: str) -> None:
        """End the calls of a caller."""
        for call in [each for of in self._calls.values() for each in of if each.caller == caller]:
            call.by_caller = True
            call.scope.cancel()

    def begin(self, server: str, call: _Call) -> None:
        self._calls.setdefault(server, set()).add(call)

    def end(self, server: str, call: _Call) -> None:
        of = self._calls[server]
        of.discard(call)
        if not of:
            del self._calls[server]
