"""Calls that are queued, parked or in flight, and how they are cut off.

That happens when the called capability is no longer approved, or the caller is revoked.

Rules kept here:
1. A call that is cut off ends where it is: if unsent, it is not sent any more; if sent, the server is told that it is
   cancelled, and a late reply reaches nobody.
2. Cutting off does not wait; the calls end by themselves, each with its own closing.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio

from mcpguard.domain.capabilities import Capability
from mcpguard.domain.decisions import CapabilityKey


class RunningCall:
    """A call of this caller in a `with` block, which is left when the call is cut off. `named`: what its server's
    approvals have, by which it is judged."""

    def __init__(self, of: "RunningCalls", named: Capability, caller: str) -> None:
        self.named = named
        self.caller = caller
        self.by_caller = False
        """Whether it was cut off because its caller was revoked or has expired."""
        self.scope = anyio.CancelScope()
        self._calls = of.calls

    def __enter__(self) -> Self:
        # Registered before the scope is entered: there is no moment at which the call runs and cannot be found.
        self._calls.setdefault(self.named.server, set()).add(self)
        self.scope.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        of = self._calls[self.named.server]
        of.discard(self)
        if not of:
            del self._calls[self.named.server]
        return bool(self.scope.__exit__(kind, error, trace))


class RunningCalls:
    """All calls that run, so that they can be cut off."""

    def __init__(self) -> None:
        self.calls: dict[str, set[RunningCall]] = {}

    def cut(self, server: str, lost: Callable[[CapabilityKey], bool]) -> None:
        """End the calls to those capabilities of a server that are lost."""
        for call in tuple(self.calls.get(server, ())):
            if lost((call.named.kind, call.named.name)):
                call.scope.cancel()

    def cut_off(self, caller: str) -> None:
        """End all calls of one caller."""
        for call in [each for of in self.calls.values() for each in of if each.caller == caller]:
            # Before it is cancelled, as the closing of the call says why it was cut off.
            call.by_caller = True
            call.scope.cancel()
