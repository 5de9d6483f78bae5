"""The data directory: accessible only to the guard's own account, and used by one guard at a time.

The lock is an flock on a file that is never unlinked: a lock on an unlinked file protects nothing.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from mcpguard.domain.errors import StoreUnavailable

LOCK = "guard.lock"


def prepare(folder: Path) -> None:
    """Create the directory for our own account. Raises StoreUnavailable if others own it or can access it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()  # not stat: a link that another account made is theirs, wherever it leads
    except OSError as error:
        raise StoreUnavailable(f"the directory {folder} cannot be created: {error.strerror}") from error
    if status.st_uid != os.getuid():
        raise StoreUnavailable(f"the directory {folder} belongs to user {status.st_uid}, not to mcpguard's own account")
    if status.st_mode & 0o077:
        raise StoreUnavailable(
            f"the directory {folder} is accessible to others (mode {status.st_mode & 0o777:o}); "
            f"run: chmod 700 {folder}, or set data_dir to another one"
        )


@contextmanager
def lock_folder(folder: Path, purpose: str) -> Iterator[None]:
    """Lock the directory against other guards for the time of the block. Raises StoreUnavailable."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreUnavailable(f"{folder / LOCK} cannot be opened: {error.strerror}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreUnavailable(f"the data directory {folder} is in use by {_holder(handle)}") from None
        note = {"pid": os.getpid(), "purpose": purpose, "since": datetime.now(UTC).isoformat(timespec="seconds")}
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(note).encode() + b"\n", 0)
        yield
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def _holder(handle: int) -> str:
    try:
        note = json.loads(os.pread(handle, 1024, 0))
        return f"process {note['pid']} (mcpguard {note['purpose']}, since {note['since']})"
    except (ValueError, KeyError, TypeError):
        return "another process"
