"""Bytes that only the guard can read, with a key that is not in the database.

Rules kept here:
1. What is sealed says what it is about. Bytes that were moved to another row do not open there.
2. What does not open is never taken for something else: that is an error that says what to look at.
"""

import os
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.files import keyfiles

KEY_BYTES = 32
NONCE_BYTES = 12


class Seal:
    """Seals and opens, with one key."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def seal(self, content: bytes, about: str) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, about.encode())

    def open(self, sealed: bytes, about: str) -> bytes:
        """Raises StoreUnavailable where the key is another, or the bytes are not the ones that were sealed for this."""
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], about.encode())
        except (InvalidTag, ValueError) as error:
            raise StoreUnavailable(
                f"what is kept of {about} does not open: the database was changed, or its seal.key is another one"
            ) from error


def load_or_make(path: Path) -> Seal:
    """With the key in `path`, made on first use."""
    key = keyfiles.read_or_make(path, "seal key", lambda: AESGCM.generate_key(KEY_BYTES * 8))
    if len(key) != KEY_BYTES:
        raise StoreUnavailable(f"{path} is not a seal key; it has {len(key)} bytes and not {KEY_BYTES}")
    return Seal(key)
