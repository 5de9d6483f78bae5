"""Time and ids as things that are passed in, so that a test can own them."""

from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """What the guard knows of time."""

    def now(self) -> int:
        """Microseconds since 1970 in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, from an arbitrary start."""
        ...

    async def sleep(self, seconds: float) -> None: ...


Ids = Callable[[], str]
"""Mints ids that sort by the time they were made and never repeat."""
