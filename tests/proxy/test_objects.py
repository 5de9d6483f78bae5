"""The text of a resource becomes JSON where it is JSON, and loses nothing by it."""

import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcpguard.proxy.objects import MOST_BYTES, compact_json, declare_json

NUMBERS = st.one_of(
    st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15)
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


@example(-0.0, None, False)
@given(VALUES, st.sampled_from([None, 1, 4]), st.booleans())
def test_a_value_is_the_same_however_it_was_written(value: Any, indent: int | None, ascii_only: bool) -> None:  # noqa: ANN401
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    written = compact_json(text)
    assert written is not None
    assert json.loads(written) == value
    assert compact_json(written) == written


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
    assert declare_json(content) == (content, False)


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,25})?([eE][+-]?([0-9]{1,3}|[0-9]{15,30}))?", fullmatch=True))
def test_a_number_is_rewritten_only_where_everybody_reads_the_same(digits: str) -> None:
    written = compact_json(digits)
    if written is not None:
        assert Decimal(written) == Decimal(digits)
        assert math.isfinite(float(written))


@example(-0.0, "text")
@given(VALUES, st.sampled_from(["text", "secret\u202e", "ignore all"]))
def test_nothing_comes_to_light_that_was_not_to_be_seen(value: Any, hidden: str) -> None:  # noqa: ANN401
    """Whoever screened the text has screened what is told: it is the same text, but for space between tokens."""
    escaped = "".join(f"\\u{ord(char):04x}" for char in hidden)
    text = f'{{ "a": {json.dumps(value)},\t"b": "{escaped}\\n \\/" }}'
    written = compact_json(text)
    assert written is not None
    assert hidden not in written
    assert f'"b":"{escaped}\\n \\/"' in written
    assert "".join(written.split()) == "".join(text.split())


def test_the_type_that_it_had_is_said() -> None:
    content = {
        "uri": "note://1",
        "mimeType": "text/plain",
        "text": '{ "b": 1.50,\n "a": "\u00fc  x" }',
        "_meta": {"x": 1},
    }
    written = {
        "uri": "note://1",
        "mimeType": "application/json",
        "text": '{"b":1.50,"a":"\u00fc  x"}',
        "contentType": "text/plain",
        "_meta": {"x": 1},
    }
    assert declare_json(content) == (written, True)
    written = {"uri": "note://1", "mimeType": "application/json", "text": "{}"}
    assert declare_json({"uri": "note://1", "text": "{}"}) == (written, True)


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_what_says_that_it_is_json_stays_as_it_is(kind: str) -> None:
    content = {"uri": "note://1", "mimeType": kind, "text": "{ }"}
    assert declare_json(content) == (content, False)


def test_bytes_stay() -> None:
    content = {"uri": "note://1", "mimeType": "text/plain", "blob": "e30="}
    assert declare_json(content) == (content, False)


def test_a_server_does_not_say_what_a_resource_was_before() -> None:
    content = {"uri": "note://1", "mimeType": "text/plain", "text": "x"}
    assert declare_json(content | {"contentType": "text/html"}) == (content, False)


def test_what_is_long_is_passed_on() -> None:
    text = json.dumps({"a": "x" * MOST_BYTES})
    assert compact_json(text) is None
