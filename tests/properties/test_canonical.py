"""Our way of writing records is RFC 8785, checked against an implementation that is not ours."""

import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.canonical import LARGEST, canonical_json
from mcpguard.domain.errors import Unrecordable

texts = st.text(st.characters(exclude_categories=["Cs"]))
keys = st.text(st.characters(max_codepoint=127), min_size=1)
scalars = st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | texts


@given(st.dictionaries(keys, scalars))
def test_it_is_rfc_8785_and_comes_back_as_it_was(record: dict[str, str | int | bool | None]) -> None:
    written = canonical_json(record)
    assert written == rfc8785.dumps(record)
    assert json.loads(written) == record


@pytest.mark.parametrize(
    "value", [1.5, float("nan"), LARGEST + 1, -LARGEST - 1, "\ud800", b"bytes", [1], {"a": 1}, object()]
)
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(Unrecordable):
        canonical_json({"key": value})  # type: ignore[dict-item]


def test_a_key_that_is_not_ascii_is_refused() -> None:
    with pytest.raises(Unrecordable):
        canonical_json({"schlüssel": 1})
