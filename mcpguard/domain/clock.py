"""The clock and the source of ids.

Both are injected, so that tests control them.
"""

from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """The time, as the guard reads it."""

    def now(self) -> int:
        """Return the microseconds since 1970 in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds since an arbitrary start; they never go back."""
        ...

    async def sleep(self, seconds: float) -> None: ...


Ids = Callable[[], str]
"""Makes unique ids that sort by the time at which they were made."""
