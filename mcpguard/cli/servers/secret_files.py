"""Files with the secrets of servers: each in its server's folder, readable only by the guard's account."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.files.datadir import prepare
from mcpguard.store.files.keyfiles import make, read, remove


class NotKept(Exception):
    """A secret cannot be stored. The sentence says why, and not what it is."""


def keep_secrets(files: Mapping[Path, str]) -> list[Path]:
    """Store secrets; return the files that were made. Raises NotKept, and leaves none then."""
    made: list[Path] = []
    try:
        for path, secret in files.items():
            prepare(path.parent.parent)
            prepare(path.parent)
            if _keep(path, secret.encode()):
                made.append(path)
    except (OSError, StoreUnavailable, NotKept, UnicodeEncodeError) as error:
        remove_secrets(made)
        raise NotKept(_told(error)) from None
    return made


def remove_secrets(made: list[Path]) -> None:
    """Remove these files, and folders that are empty then."""
    for path in made:
        remove(path)
        with suppress(OSError):
            path.parent.rmdir()


def _keep(path: Path, secret: bytes) -> bool:
    """Store one secret. Returns whether the file was made now."""
    try:
        make(path, secret)
    except FileExistsError:
        if read(path, "secret") == secret:
            return False
        raise NotKept(f"{path} already holds another value; move it away if nothing needs it") from None
    return True


def _told(error: Exception) -> str:
    match error:
        case OSError():
            return f"its secrets cannot be stored: {error.strerror}"
        case UnicodeEncodeError():
            return "one of its secrets is not text"
        case _:
            return str(error)
