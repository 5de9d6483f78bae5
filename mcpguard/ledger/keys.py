"""The signing key of a guard: an Ed25519 key in a separate file that only the guard's account can read."""

import base64
import hashlib
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.files import keyfiles

WHAT = "signing key"


class NoKey(StoreUnavailable):
    """A file that should have a signing key has none."""


class SigningKey:
    """Signs checkpoints."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = public_text(private.public_key())

    def sign(self, content: bytes) -> bytes:
        return self._private.sign(content)


def load_or_make(path: Path) -> SigningKey:
    """The key in the file `path`, which is made on first use."""
    return _key(path, keyfiles.read_or_make(path, WHAT, lambda: new_key()[1]))


def new_key() -> tuple[SigningKey, bytes]:
    """A new key, and the content of its file."""
    private = Ed25519PrivateKey.generate()
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return SigningKey(private), private.private_bytes(encoding, form, serialization.NoEncryption())


def load(path: Path) -> SigningKey:
    """The key in the file `path`."""
    return _key(path, keyfiles.read(path, WHAT))


def _key(path: Path, content: bytes) -> SigningKey:
    try:
        private = serialization.load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise NoKey(f"{path} is not a signing key: {error}") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise NoKey(f"{path} is not an Ed25519 key")
    return SigningKey(private)


def public_text(key: Ed25519PublicKey) -> str:
    """The public key as it stands in records: base64 of its 32 bytes."""
    return base64.b64encode(key.public_bytes_raw()).decode()


def public_from(text: str) -> Ed25519PublicKey:
    """Parse a public key. Raises ValueError for anything else, and for a key that is not in canonical base64."""
    raw = base64.b64decode(text, validate=True)
    # Base64 has spare bits: one key would have several names, and could be retired under one of them only.
    if base64.b64encode(raw).decode() != text:
        raise ValueError("a public key must be canonical base64")
    return Ed25519PublicKey.from_public_bytes(raw)


def short(text: str) -> str:
    """A short name of a public key, which a person can compare."""
    return hashlib.sha256(base64.b64decode(text)).hexdigest()[:16]


def display_name(text: object) -> str:
    """The short name of a public key, or `unreadable` for what is none."""
    try:
        return short(str(text))
    except ValueError:
        return "unreadable"
