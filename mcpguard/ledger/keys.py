"""The signing key of a guard: an Ed25519 key in a file of its own that only the guard's account can read."""

import base64
import hashlib
import os
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from mcpguard.domain.errors import StoreUnavailable


class SigningKey:
    """Signs checkpoints."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = public_text(private.public_key())

    def sign(self, content: bytes) -> bytes:
        return self._private.sign(content)


def load_or_make(path: Path) -> SigningKey:
    """The key in `path`, made on first use; refuses one that others can read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return load(path)
    except OSError as error:
        raise StoreUnavailable(f"the signing key {path} cannot be made: {error.strerror}") from error
    private = Ed25519PrivateKey.generate()
    with os.fdopen(handle, "wb") as file:
        file.write(
            private.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        file.flush()
        os.fsync(file.fileno())
    return SigningKey(private)


def load(path: Path) -> SigningKey:
    """The key in `path`."""
    try:
        if path.stat().st_mode & 0o077:
            raise StoreUnavailable(f"the signing key {path} can be read by others; run: chmod 600 {path}")
        private = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise StoreUnavailable(f"the signing key {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise StoreUnavailable(f"{path} is not a signing key: {error}") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise StoreUnavailable(f"{path} is not an Ed25519 key")
    return SigningKey(private)


def public_text(key: Ed25519PublicKey) -> str:
    """The public key as it stands in records: base64 of its 32 bytes."""
    return base64.b64encode(key.public_bytes_raw()).decode()


def public_from(text: str) -> Ed25519PublicKey:
    """Raises ValueError for anything that is not a public key."""
    return Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))


def short(text: str) -> str:
    """A name for a public key that a person can compare."""
    return hashlib.sha256(base64.b64decode(text)).hexdigest()[:16]
