"""Noticing that the configuration file has changed.

It is looked at once a second: a file is replaced, linked or mounted in too many ways to rely on being notified.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

from mcpguard.domain.clock import Clock

LOOK_SECONDS = 1.0
Look = tuple[int, int, int] | None


async def watching(path: Path, changed: Callable[[], Awaitable[None]], clock: Clock) -> None:
    """Call `changed` whenever the file is another than before and stays so for a look. Runs until cancelled."""
    applied = seen = _look(path)
    while True:
        await clock.sleep(LOOK_SECONDS)
        before, seen = seen, _look(path)
        if seen != applied and seen == before:  # nobody is in the middle of writing it
            applied = seen
            await changed()


def _look(path: Path) -> Look:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
