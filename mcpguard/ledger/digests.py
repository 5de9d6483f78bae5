"""Keyed digests of bodies that are not kept: comparing two bodies by their digests requires the key.

The key is stored in a file beside the database, never in it.
"""

import secrets
from hashlib import sha256
from pathlib import Path

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.files import keyfiles

KEY_BYTES = 32


class Digests:
    """Makes keyed digests (HMAC-SHA-256), with the key's part of the work done once."""

    def __init__(self, key: bytes) -> None:
        self._inner = sha256(bytes(byte ^ 0x36 for byte in key.ljust(64, b"\0")))
        self._outer = sha256(bytes(byte ^ 0x5C for byte in key.ljust(64, b"\0")))

    def keyed_digest(self, content: bytes) -> str:
        """The digest of these bytes, as records have it."""
        # HMAC by its definition, from two hash states that have the key already.
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(content)
        outer.update(inner.digest())
        return f"hmac-sha256:{outer.hexdigest()}"


def load_or_make(path: Path) -> Digests:
    """Digests with the key in the file `path`, which is made on first use."""
    key = keyfiles.read_or_make(path, "digest key", lambda: secrets.token_bytes(KEY_BYTES))
    if len(key) != KEY_BYTES:
        raise StoreUnavailable(f"{path} is not a digest key: it has {len(key)} bytes, not {KEY_BYTES}")
    return Digests(key)
