"""The signing key."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import keys


def test_it_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "audit.key"
    made = keys.load_or_make(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert keys.load_or_make(file).public == made.public
    keys.public_from(made.public).verify(made.sign(b"statement"), b"statement")


def test_a_key_that_others_can_read_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "audit.key"
    keys.load_or_make(file)
    file.chmod(0o640)
    with pytest.raises(StoreUnavailable, match="chmod 600"):
        keys.load_or_make(file)


@pytest.mark.parametrize(
    "content", [b"", b"not a key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_what_is_no_key_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "audit.key"
    file.touch(mode=0o600)
    file.write_bytes(content)
    with pytest.raises(StoreUnavailable, match="is not a signing key"):
        keys.load_or_make(file)
    assert file.read_bytes() == content


def test_a_key_of_another_kind_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "audit.key"
    file.touch(mode=0o600)
    file.write_bytes(
        generate_private_key(SECP256R1()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    with pytest.raises(StoreUnavailable, match="not an Ed25519 key"):
        keys.load_or_make(file)


def test_a_place_where_none_can_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be created"):
        keys.load_or_make(tmp_path / "missing" / "audit.key")
