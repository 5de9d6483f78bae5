"""Digests of what is not kept: whoever has the key can tell whether two bodies were the same, and nobody else anything.

The key lies in a file beside the database, never in it.
"""

import os
import secrets
from hashlib import sha256
from pathlib import Path

from mcpguard.domain.bodies import DigestedBody
from mcpguard.domain.errors import StoreUnavailable

KEY_BYTES = 32


class Digests:
    """Makes keyed digests: HMAC, with the key's part of the work done once."""

    def __init__(self, key: bytes) -> None:
        self._inner = sha256(bytes(byte ^ 0x36 for byte in key.ljust(64, b"\0")))
        self._outer = sha256(bytes(byte ^ 0x5C for byte in key.ljust(64, b"\0")))

    def body(self, content: bytes) -> DigestedBody:
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(content)
        outer.update(inner.digest())
        return DigestedBody(len(content), "hmac-sha256:" + outer.hexdigest())


def load_or_make(path: Path) -> Digests:
    """The key in `path`, made on first use; refuses one that others can read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return Digests(_load(path))
    except OSError as error:
        raise StoreUnavailable(f"the digest key {path} cannot be made: {error.strerror}") from error
    key = secrets.token_bytes(KEY_BYTES)
    with os.fdopen(handle, "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return Digests(key)


def _load(path: Path) -> bytes:
    try:
        if path.stat().st_mode & 0o077:
            raise StoreUnavailable(f"the digest key {path} can be read by others; run: chmod 600 {path}")
        key = path.read_bytes()
    except OSError as error:
        raise StoreUnavailable(f"the digest key {path} cannot be read: {error.strerror}") from error
    if len(key) != KEY_BYTES:
        raise StoreUnavailable(f"{path} is not a digest key; it has {len(key)} bytes and not {KEY_BYTES}")
    return key
