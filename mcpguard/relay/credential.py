"""The token that names the agent to the guard: from the environment or from a file, never from the command line.

Rules kept here:
1. A token that was configured and is missing is an error; nobody becomes anonymous by mistake.
2. No message repeats a token or a part of one.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mcpguard.relay.problem import CannotRelay

TOKEN: Final = "MCPGUARD_TOKEN"  # noqa: S105 - the name of the variable
TOKEN_FILE: Final = "MCPGUARD_TOKEN_FILE"  # noqa: S105 - likewise
LARGEST: Final = 4096


def token(environ: Mapping[str, str]) -> str | None:
    """Return the token; None if none is configured."""
    if TOKEN in environ and TOKEN_FILE in environ:
        raise CannotRelay(f"{TOKEN} and {TOKEN_FILE} are both set; set only one of them")
    if TOKEN in environ:
        return _checked(os.fsencode(environ[TOKEN]), f"{TOKEN} in the environment")
    if TOKEN_FILE in environ:
        path = Path(environ[TOKEN_FILE])
        return _checked(_content(path), f"{path}, named by {TOKEN_FILE} in the environment,")
    return None


def _content(path: Path) -> bytes:
    subject = f"{TOKEN_FILE} in the environment names {path}, which"
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # opening a pipe would wait for its writer
    except (OSError, ValueError) as error:
        raise CannotRelay(f"{subject} cannot be read: {getattr(error, 'strerror', None) or 'no path'}") from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise CannotRelay(f"{subject} is not a regular file")
        return os.read(handle, LARGEST + 1)
    except OSError as error:
        raise CannotRelay(f"{subject} cannot be read: {error.strerror}") from None
    finally:
        os.close(handle)


def _checked(said: bytes, subject: str) -> str:
    if len(said) > LARGEST:
        raise CannotRelay(f"{subject} is larger than {LARGEST} bytes")
    text = said.strip()
    if not text:
        raise CannotRelay(f"{subject} is empty")
    if not text.isascii() or not text.decode().isprintable() or b" " in text:
        raise CannotRelay(f"{subject} is not a token")
    return text.decode()
