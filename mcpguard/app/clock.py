"""The real clock and the real ids."""

import time

import anyio
import uuid_utils


class SystemClock:
    """The machine's time."""

    def now(self) -> int:
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


def new_id() -> str:
    """A UUID of version 7: sorts by the time it was made."""
    return str(uuid_utils.uuid7())
