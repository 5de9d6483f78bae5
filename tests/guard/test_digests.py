"""Digests of what is not kept: an HMAC, under a key in a file that only the guard's account can read."""

import hmac
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.guard.calls.kept_bodies import KEY_BYTES, Digests, load_or_make_digests


@given(st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES), st.lists(st.binary(max_size=300), max_size=3))
def test_it_is_an_hmac_however_often_it_is_asked(key: bytes, contents: list[bytes]) -> None:
    digests = Digests(key)
    for content in contents:
        assert digests.keyed_digest(content) == f"hmac-sha256:{hmac.digest(key, content, 'sha256').hex()}"


def test_the_key_is_made_once_and_for_us_only(tmp_path: Path) -> None:
    path = tmp_path / "digest.key"
    first = load_or_make_digests(path).keyed_digest(b"content")
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_or_make_digests(path).keyed_digest(b"content") == first
    assert load_or_make_digests(tmp_path / "another.key").keyed_digest(b"content") != first


def test_one_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "digest.key"
    load_or_make_digests(path)
    path.chmod(0o644)
    with pytest.raises(StoreUnavailable, match="chmod 600"):
        load_or_make_digests(path)


@pytest.mark.parametrize("content", [b"", b"short", bytes(KEY_BYTES + 1)])
def test_what_is_no_key_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "digest.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(StoreUnavailable, match="not a digest key"):
        load_or_make_digests(path)


def test_where_none_can_be_made_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be created"):
        load_or_make_digests(tmp_path / "missing" / "digest.key")
