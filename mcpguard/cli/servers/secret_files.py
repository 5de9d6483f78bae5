"""Files with the secrets of servers: each in a folder of that server's, for the guard's own account only."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.files.datadir import prepare
from mcpguard.store.files.keyfiles import make, read, remove


class NotKept(Exception):
    """A secret cannot be put where it is to be. The sentence says why, and not what it is."""


def kept(files: Mapping[Path, str]) -> list[Path]:
    """The files that were made for it; those that hold the same already are left. Raises NotKept, and leaves none."""
    made: list[Path] = []
    try:
        for path, secret in files.items():
            prepare(path.parent.parent)
            prepare(path.parent)
            if _keep(path, secret.encode()):
                made.append(path)
    except (OSError, StoreUnavailable, NotKept, UnicodeEncodeError) as error:
        let_go(made)
        raise NotKept(_told(error)) from None
    return made


def let_go(made: list[Path]) -> None:
    """Remove what was made, and folders in which nothing is left."""
    for path in made:
        remove(path)
        with suppress(OSError):
            path.parent.rmdir()


def _keep(path: Path, secret: bytes) -> bool:
    """Whether it was made now."""
    try:
        make(path, secret)
    except FileExistsError:
        if read(path, "secret") == secret:
            return False
        raise NotKept(f"{path} holds another value already; move it away if nothing needs it") from None
    return True


def _told(error: Exception) -> str:
    match error:
        case OSError():
            return f"its secrets cannot be kept: {error.strerror}"
        case UnicodeEncodeError():
            return "one of its secrets is no text"
        case _:
            return str(error)
