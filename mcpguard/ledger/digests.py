"""Digests of what is not kept: whoever has the key can tell whether two bodies were the same, and nobody else anything.

The key lies in a file beside the database, never in it.
"""

import secrets
from hashlib import sha256
from pathlib import Path

from mcpguard.domain.calls.bodies import DigestedBody
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.files import keyfiles

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
    """With the key in `path`, made on first use."""
    key = keyfiles.read_or_make(path, "digest key", lambda: secrets.token_bytes(KEY_BYTES))
    if len(key) != KEY_BYTES:
        raise StoreUnavailable(f"{path} is not a digest key; it has {len(key)} bytes and not {KEY_BYTES}")
    return Digests(key)
