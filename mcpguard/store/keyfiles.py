"""Files with keys, which only the guard's own account can read. Each is made on first use, and never changed."""

import os
from collections.abc import Callable
from pathlib import Path

from mcpguard.domain.errors import StoreUnavailable


def read_or_make(path: Path, what: str, make: Callable[[], bytes]) -> bytes:
    """What is in the file; what `make` gives, if there was none. `what` names the key in errors."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return read(path, what)
    except OSError as error:
        raise StoreUnavailable(f"the {what} {path} cannot be made: {error.strerror}") from error
    content = make()
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return content


def read(path: Path, what: str) -> bytes:
    """What is in the file. One that others can read is refused."""
    try:
        if path.stat().st_mode & 0o077:
            raise StoreUnavailable(f"the {what} {path} can be read by others; run: chmod 600 {path}")
        return path.read_bytes()
    except OSError as error:
        raise StoreUnavailable(f"the {what} {path} cannot be read: {error.strerror}") from error
