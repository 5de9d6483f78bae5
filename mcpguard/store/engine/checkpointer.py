"""Has the WAL of a SQLite database checkpointed in a thread, every so many commits.

Rules kept here:
1. No commit waits for it: a checkpoint waits for the disk, and is done beside the writer.
2. The WAL begins anew only when all of it has been moved, which a writer that never rests prevents. Once it is very
   long, writers are stopped for the end of a checkpoint.
3. A checkpoint that fails is tried again after as many commits: until then the WAL holds what was committed.
"""

import sqlite3
import threading
from typing import Final, Protocol

import structlog

from mcpguard.domain.errors import StoreUnavailable

COMMITS: Final = 128
"""Commits after which pages are moved."""
LONG: Final = 8_192
"""Pages of a WAL for whose end writers are stopped: 64 MB, or 32 MB in a file that an older version made."""
log = structlog.get_logger("mcpguard.store")


class PageMover(Protocol):
    """Moves committed pages to the file and returns how many the WAL held."""

    def __call__(self, *, stop_writers: bool) -> int: ...


class Checkpointer:
    """Makes checkpoints of one database. It is used by one thread at a time."""

    def __init__(self, checkpoint: PageMover) -> None:
        self._checkpoint = checkpoint
        self._thread: threading.Thread | None = None

    def begin(self) -> bool:
        """Begin a checkpoint. Return False if one is going on."""
        if self._thread is not None and self._thread.is_alive():
            return False
        self._thread = threading.Thread(target=self._run, name="mcpguard-checkpoint", daemon=True)
        self._thread.start()
        return True

    def wait(self) -> None:
        """Wait for the checkpoint that is going on."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            if self._checkpoint(stop_writers=False) > LONG:
                self._checkpoint(stop_writers=True)
        except (sqlite3.Error, StoreUnavailable) as error:
            log.info("store.not_checkpointed", why=str(error))
