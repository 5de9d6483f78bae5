"""Key files, readable only by the guard's own account.

Each is created at first use and never modified, but may be replaced by another file. A file gets its name only after
its content is on the disk, so after a crash or a full disk the key is either complete or absent; an empty file never
blocks the creation of a new one.
"""

import os
from collections.abc import Callable
from pathlib import Path

from mcpguard.domain.errors import StoreUnavailable


def read_or_make(path: Path, what: str, make: Callable[[], bytes]) -> bytes:
    """Return the content of the file, which is created with `make()` if absent. `what` names the key in errors."""
    if not os.path.lexists(path):  # not exists: a dangling link was put there by somebody, and stays
        try:
            _make_whole(path, make())
        except OSError as error:
            raise StoreUnavailable(f"the {what} {path} cannot be created: {error.strerror}") from error
    return read(path, what)


def make(path: Path, content: bytes) -> None:
    """Create a file that must not exist yet, durably. Raises OSError."""
    _write(path, content)
    sync_folder(path.parent)


def replace(path: Path, by: Path) -> None:
    """Replace a file by another one, durably. Raises OSError."""
    by.replace(path)
    sync_folder(path.parent)


def remove(path: Path) -> None:
    """Remove a file durably, if it exists. Raises OSError."""
    path.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Write the entries of a folder to the disk. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: Path, what: str) -> bytes:
    """Return the content of the file. Raises StoreUnavailable, also if others can read it."""
    try:
        if path.stat().st_mode & 0o077:
            raise StoreUnavailable(f"the {what} {path} is accessible to others; run: chmod 600 {path}")
        return path.read_bytes()
    except OSError as error:
        raise StoreUnavailable(f"the {what} {path} cannot be read: {error.strerror}") from error


def _make_whole(path: Path, content: bytes) -> None:
    """Write the file under another name and rename it. Only one guard uses the folder, so a file of that other name was
    left by a crash. Raises OSError."""
    partial = path.with_name(path.name + ".part")
    partial.unlink(missing_ok=True)
    try:
        _write(partial, content)
        replace(path, partial)
    finally:
        partial.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
