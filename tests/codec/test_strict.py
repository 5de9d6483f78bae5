"""Strict JSON gives the value every reader would agree on, or refuses and says where."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.strict import MOST_DEPTH, StrictError, parse

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


def refusal(data: bytes, *, max_bytes: int = 1_000_000, max_depth: int = 64) -> tuple[str, int | None, int | None]:
    with pytest.raises(StrictError) as caught:
        parse(data, max_bytes=max_bytes, max_depth=max_depth)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value.message, caught.value.line, caught.value.column


@given(JSON_VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_what_python_writes_is_read_back_whatever_the_escapes_and_the_spacing(
    value: object, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert parse(text.encode(), max_bytes=1_000_000) == value


@given(st.binary(max_size=200) | st.text('{}[]":,\\udD8\n0eNa ', max_size=60).map(str.encode))
def test_anything_else_is_refused_with_strict_error_and_nothing_else(data: bytes) -> None:
    try:
        parse(data, max_bytes=1_000)
    except StrictError as error:
        assert error.message  # noqa: PT017 - a value is a good end too


NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,4})?([eE][-+]?[0-9]{1,3})?", fullmatch=True)
PIECES = ["a", "b", "/", " ", "é", "\U0001f600", r"\u0061", r"\ud83d\ude00", r"\ud800", r"\n", r"\u0020", r"\/"]
TEXTS = st.lists(st.sampled_from(PIECES))
SCALARS = NUMBERS | st.sampled_from(["NaN", "-Infinity", "true", "null"]) | TEXTS.map(lambda some: f'"{"".join(some)}"')
KEYS = st.sampled_from(["a", "b", "a ", "é", r"\u0061", r"\ud800", r"\n"])
LONG = b" " * 64 * 1024
"""Makes a document so long that only Python's parser reads it."""
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda some: f"[{','.join(some)}]")
        | st.lists(st.tuples(KEYS, inner), max_size=3).map(
            lambda some: "{" + ",".join(f'"{key}":{value}' for key, value in some) + "}"
        )
    ),
    max_leaves=8,
)


@given(DOCUMENTS | st.binary(max_size=20).map(lambda data: data.decode("latin-1")), st.sampled_from(["", " ", "\n  "]))
def test_a_document_means_the_same_to_both_parsers(text: str, space: str) -> None:
    text = text.replace(",", f",{space}").replace(":", f"{space}:{space}")
    ends = []
    for data in (text.encode(), text.encode() + LONG):
        try:
            ends.append(repr(parse(data, max_bytes=100_000)))
        except StrictError:
            ends.append("refused")
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    "text",
    ['{"a":1,"a":1}', '{"a ":1, "a ":1}', '{"a":{"b":1,"b":2}}', '{"a":1,"\\u0061":1}', "[1e999]", '["\\ud800"]'],
)
def test_a_short_document_of_two_meanings_is_refused(text: str) -> None:
    assert refusal(text.encode()) == refusal(text.encode() + LONG)


def test_large_integers_keep_all_their_digits() -> None:
    assert parse(b"[18446744073709551616,-9223372036854775809]", max_bytes=100) == [2**64, -(2**63) - 1]


@given(st.integers(0, MOST_DEPTH), st.integers(1, 5), st.sampled_from(["[]", '{"a":}']))
def test_exactly_the_allowed_depth_is_read(depth: int, more: int, kind: str) -> None:
    opening, closing = kind[:-1], kind[-1]

    def nested(levels: int) -> bytes:
        return (opening * levels + "0" + closing * levels).encode()

    parse(nested(depth), max_bytes=10_000, max_depth=depth)
    message, line, column = refusal(nested(depth + more), max_depth=depth)
    assert message == f"nested deeper than {depth} levels"
    assert (line, column) == (1, depth * len(opening) + 1)


def values(said: object) -> int:
    """How many values there are in this one, itself among them."""
    match said:
        case dict():
            return 1 + sum(map(values, said.values()))
        case list():
            return 1 + sum(map(values, said))
        case _:
            return 1


@given(JSON_VALUES, st.sampled_from([None, 2]))
def test_exactly_the_allowed_number_of_values_is_read(value: object, indent: int | None) -> None:
    data, count = json.dumps([value], indent=indent, ensure_ascii=False).encode(), 1 + values(value)
    assert parse(data, max_bytes=1_000_000, max_values=count) == [value]
    with pytest.raises(StrictError) as caught:
        parse(data, max_bytes=1_000_000, max_values=count - 1)
    assert caught.value.message == f"more than {count - 1} values"


def test_what_stands_in_texts_is_no_value() -> None:
    data = json.dumps({"text": ',[{"' * 100_000, "," * 1000: []}).encode()
    assert parse(data, max_bytes=1_000_000, max_values=3)


def test_neighbours_are_no_depth() -> None:
    assert parse(b'[[], {"a": {}}, [[]]' + b", []" * 1_000 + b"]", max_bytes=10_000, max_depth=3)


def test_a_million_brackets_cost_nothing() -> None:
    assert refusal(b"[" * 1_000_000)[0] == "nested deeper than 64 levels"


def test_brackets_inside_strings_are_no_depth() -> None:
    text = "[" * 100 + '\\"' + "{" * 100
    assert parse(f'["{text}"]'.encode(), max_bytes=1_000, max_depth=1) == [text.replace("\\", "")]


def test_a_string_that_never_ends_is_refused_in_linear_time() -> None:
    message, *place = refusal(b"[" + b" " * 500_000 + b'"' + b"x[" * 200_000)
    assert (message, place) == ("unterminated string starting at", [1, 500_002])


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ('{"a": 1,\n "a": 2}', 'duplicate key "a"', 2, 2),
        ('{"x": {"b": 1, "c": [{"b": 2}], "b": 3}}', 'duplicate key "b"', 1, 33),
        ('{"a": 1, "\\u0061": 2}', 'duplicate key "a"', 1, 10),
        ('{"\\u202e": 1, "\\u202e": 2}', 'duplicate key "\\u202e"', 1, 15),
        ('{"a": NaN}', "NaN is not JSON", 1, 7),
        ("[\n1,\n  -Infinity]", "-Infinity is not JSON", 3, 3),
        ("Infinity", "Infinity is not JSON", 1, 1),
        ("[1e999]", "a number too large to read", 1, 2),
        ("[-1E+400]", "a number too large to read", 1, 2),
        ('["ok", "\\ud800"]', "a lone surrogate stands for no character", 1, 8),
        ('{"\\uDC00x": 1}', "a lone surrogate stands for no character", 1, 2),
        ('{"a" 1}', "expecting ':' delimiter", 1, 6),
        ("", "expecting value", 1, 1),
        ("[1] 2", "extra data", 1, 5),
        ('"\t"', "invalid control character at", 1, 2),
    ],
)
def test_a_refusal_says_what_and_where(text: str, message: str, line: int, column: int) -> None:
    assert refusal(text.encode()) == (message, line, column)


def test_numbers_of_thousands_of_digits_are_refused() -> None:
    assert refusal(b"[0,\n" + b"9" * 5_000 + b"]") == ("a number too large to read", 2, 1)


def test_paired_surrogates_and_escaped_backslashes_are_fine() -> None:
    assert parse(b'["\\ud83d\\ude00", "\\\\ud800"]', max_bytes=100) == ["\N{GRINNING FACE}", "\\ud800"]


def test_the_same_key_in_two_objects_is_fine() -> None:
    assert parse(b'[{"a": "a"}, {"a": {"a": 1}}]', max_bytes=100) == [{"a": "a"}, {"a": {"a": 1}}]


def test_only_utf8_without_a_mark() -> None:
    assert refusal(b'\xef\xbb\xbf{"a": 1}') == (
        "starts with a byte order mark; save it as UTF-8 without one",
        1,
        1,
    )
    assert refusal(b'{\n"\xc3\xa9\xff": 1}') == ("not UTF-8", 2, 3)
    assert refusal('{"a": 1}'.encode("utf-16-le"))[0]
    assert refusal(b'"\xed\xa0\x80"') == ("not UTF-8", 1, 2)


@given(st.integers(0, 50))
def test_the_size_is_counted_in_bytes(spaces: int) -> None:
    data = '"é"'.encode() + b" " * spaces
    assert parse(data, max_bytes=len(data)) == "é"
    assert refusal(data, max_bytes=len(data) - 1) == (f"larger than {len(data) - 1} bytes", None, None)


def test_a_depth_that_could_exhaust_the_stack_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="at most"):
        parse(b"1", max_bytes=1, max_depth=MOST_DEPTH + 1)


def test_no_value_of_the_document_shows_in_a_refusal() -> None:
    canary = "hunter2-canary"
    for text in (f'{{"k": "{canary}" x}}', f'{{"k": "{canary}", "k": 1}}', f'{{"k": ["{canary}", NaN]}}'):
        with pytest.raises(StrictError) as caught:
            parse(text.encode(), max_bytes=1_000)
        assert canary not in repr(caught.value)
        assert canary not in str(caught.value.__cause__)
