"""The text of a resource becomes JSON where it is JSON, and loses nothing by it."""

import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.proxy.objects import objectified, rewritten

NUMBERS = st.one_of(
    st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15)
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 1, 4]), st.booleans())
def test_a_value_is_the_same_however_it_was_written(value: Any, indent: int | None, ascii_only: bool) -> None:  # noqa: ANN401
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    written = rewritten(text)
    assert written is not None
    assert json.loads(written) == value
    assert rewritten(written) == written


@pytest.mark.parametrize(
    "text",
    [
        *("", "a note", "{", "[1,]", "{'a': 1}", "// no\n{}", "\ufeff{}", "1 2"),
        *("NaN", "[Infinity]", '{"a": -Infinity}', "1e400", '{"a": 1, "a": 2}', '"\\ud800"', "[" * 100 + "]" * 100),
        *("9007199254740993", "-9007199254740994", "1e17", "0.1000000000000000055511151231257827", "1e-400", "-0"),
        "9" * 5000,
    ],
)
def test_what_would_lose_something_stays(text: str) -> None:
    content = {"uri": "note://1", "mimeType": "text/plain", "text": text}
    assert objectified(content) == content


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True))
def test_a_number_is_rewritten_only_where_everybody_reads_the_same(digits: str) -> None:
    written = rewritten(digits)
    if written is not None:
        assert Decimal(written) == Decimal(digits)
        assert math.isfinite(float(written))


def test_the_type_that_it_had_is_said() -> None:
    content = {"uri": "note://1", "mimeType": "text/plain", "text": '{ "b": 1,\n "a": "\u00fc" }', "_meta": {"x": 1}}
    assert objectified(content) == {
        "uri": "note://1",
        "mimeType": "application/json",
        "text": '{"b":1,"a":"\u00fc"}',
        "contentType": "text/plain",
        "_meta": {"x": 1},
    }
    assert "contentType" not in objectified({"uri": "note://1", "text": "{}"})


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_what_says_that_it_is_json_stays_as_it_is(kind: str) -> None:
    content = {"uri": "note://1", "mimeType": kind, "text": "{ }"}
    assert objectified(content) == content


def test_bytes_stay() -> None:
    content = {"uri": "note://1", "mimeType": "text/plain", "blob": "e30="}
    assert objectified(content) == content
