"""Encrypts bytes with a key that is not in the database.

Rules kept here:
1. Sealed bytes are bound to their context: if an attacker moves them to another row, decryption fails.
2. A failed decryption raises an error that says what to check.
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
    """Encrypts (seals) and decrypts (opens) bytes with one key."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def seal(self, content: bytes, about: str) -> bytes:
        """Return the encrypted content, bound to `about`."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, about.encode())

    def open(self, sealed: bytes, about: str) -> bytes:
        """Return the content. Raises StoreUnavailable for another key, or bytes that were not sealed for `about`."""
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], about.encode())
        except (InvalidTag, ValueError) as error:
            raise StoreUnavailable(
                f"the stored data of {about} cannot be decrypted: the database was changed, or seal.key was replaced"
            ) from error


def load_or_make(path: Path) -> Seal:
    """Return a seal with the key in `path`, which is created at first use. Raises StoreUnavailable."""
    key = keyfiles.read_or_make(path, "seal key", lambda: AESGCM.generate_key(KEY_BYTES * 8))
    if len(key) != KEY_BYTES:
        raise StoreUnavailable(f"{path} is not a seal key: it has {len(key)} bytes instead of {KEY_BYTES}")
    return Seal(key)
