"""Watches the configuration file for changes.

The file is checked once a second: it can be replaced, linked or mounted in too many ways to rely on notifications.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

from mcpguard.domain.clock import Clock

LOOK_SECONDS = 1.0
Look = tuple[int, int, int] | None


async def watch_file(path: Path, changed: Callable[[], Awaitable[None]], clock: Clock) -> None:
    """Call `changed` whenever the file has changed and then stays the same for one check. Runs until cancelled."""
    applied = seen = _look(path)
    while True:
        await clock.sleep(LOOK_SECONDS)
        before, seen = seen, _look(path)
        if seen != applied and seen == before:  # unchanged since the last check, so nobody is just writing it
            applied = seen
            await changed()


def _look(path: Path) -> Look:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
