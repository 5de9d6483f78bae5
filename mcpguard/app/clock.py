"""The system clock, and random ids."""

import time

import anyio
import uuid_utils


class SystemClock:
    """The time of the host."""

    def now(self) -> int:
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


def new_id() -> str:
    """Return a UUID of version 7, which sorts by its time."""
    return str(uuid_utils.uuid7())
