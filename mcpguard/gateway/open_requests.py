"""What is open in the name of each caller, so that it can be ended when the caller is revoked.

Calls that are cut off get a moment to say so in their answers. What has not ended by then is cancelled.
"""

from types import TracebackType
from typing import Final, Self

import anyio

LAST_WORDS: Final = 0.5
"""Seconds."""


class OpenRequest:
    """A request or stream in progress, in a `with` block that is left when its caller is revoked or its client has
    gone.
    """

    def __init__(self, of: dict[str, "set[OpenRequest]"], caller: str) -> None:
        self._of = of
        self._caller = caller
        self._scope = anyio.CancelScope()
        self._has_left = False

    def __enter__(self) -> Self:
        self._of.setdefault(self._caller, set()).add(self)
        self._scope.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        of = self._of[self._caller]
        of.discard(self)
        if not of:
            del self._of[self._caller]
        return bool(self._scope.__exit__(kind, error, trace))

    @property
    def was_revoked(self) -> bool:
        """Whether the block was left because the caller was revoked."""
        return self._scope.cancelled_caught and not self._has_left

    def leave(self) -> None:
        """Leave the block: nobody waits for the answer any more."""
        self._has_left = True
        self._scope.cancel()

    def end_soon(self) -> None:
        """Leave the block in a moment, unless it ends by itself."""
        self._scope.deadline = min(self._scope.deadline, anyio.current_time() + LAST_WORDS)


class OpenRequests:
    """The open requests and streams of one door."""

    def __init__(self) -> None:
        self._of: dict[str, set[OpenRequest]] = {}

    def hold_open(self, caller: str) -> OpenRequest:
        """Return what counts a `with` block as open in the caller's name; revoking the caller leaves it."""
        return OpenRequest(self._of, caller)

    def end_caller(self, caller: str) -> None:
        """End everything open in this caller's name within half a second."""
        for request in self._of.get(caller, ()):
            request.end_soon()
