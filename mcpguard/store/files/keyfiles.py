"""Files with keys, which only the guard's own account can read. Each is made on first use, and never changed; another
may take its place.

A file gets its name when the whole key in it is on the disk. Whatever moment a crash or a full disk chooses, there is
the key or there is none, and never an empty file that is none and stands in the way of another.
"""

import os
from collections.abc import Callable
from pathlib import Path

from mcpguard.domain.errors import StoreUnavailable


def read_or_make(path: Path, what: str, make: Callable[[], bytes]) -> bytes:
    """What is in the file; what `make` gives, if there was none. `what` names the key in errors."""
    if not os.path.lexists(path):  # a link that leads nowhere is somebody's too, and stays
        try:
            _make_whole(path, make())
        except OSError as error:
            raise StoreUnavailable(f"the {what} {path} cannot be made: {error.strerror}") from error
    return read(path, what)


def make(path: Path, content: bytes) -> None:
    """A file that must not be there yet, with its name on the disk too. Raises OSError."""
    _write(path, content)
    synced(path.parent)


def replace(path: Path, by: Path) -> None:
    """Put one file in the place of another, for good. Raises OSError."""
    by.replace(path)
    synced(path.parent)


def remove(path: Path) -> None:
    """For good; it need not be there. Raises OSError."""
    path.unlink(missing_ok=True)
    synced(path.parent)


def synced(folder: Path) -> None:
    """Have the names in a folder on the disk. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: Path, what: str) -> bytes:
    """What is in the file. One that others can read is refused."""
    try:
        if path.stat().st_mode & 0o077:
            raise StoreUnavailable(f"the {what} {path} can be read by others; run: chmod 600 {path}")
        return path.read_bytes()
    except OSError as error:
        raise StoreUnavailable(f"the {what} {path} cannot be read: {error.strerror}") from error


def _make_whole(path: Path, content: bytes) -> None:
    """Write it beside its place and give it its name last. Only one guard has the folder, so what lies there under the
    other name was left by a crash. Raises OSError."""
    beside = path.with_name(path.name + ".part")
    beside.unlink(missing_ok=True)
    try:
        _write(beside, content)
        replace(path, beside)
    finally:
        beside.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
