"""Different values never have the same bytes, and the bytes are RFC 8785 wherever RFC 8785 loses nothing."""

import copy
import json
import math
import struct
from random import Random
from typing import Any

import pytest
import rfc8785
from hypothesis import assume, given
from hypothesis import strategies as st

from mcpguard.codec.exact import MOST_DEPTH, _surveyed, _written, exact_json, read_back
from mcpguard.codec.strict import parse
from mcpguard.domain.errors import Unreadable

SAFE = 2**53 - 1
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["", "\0", "\x7f", '"\\/\b\f\n\r\t', "\u2028", "é", "e\u0301", "\ue000", "\uffff", "\U00010000", "1", "null"]
)
INTEGERS = st.integers() | st.sampled_from([2**53, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**16, 10**21, 10**400])
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 1.0, 2.0**53, 1e15, 1e16, 1e20, 1e21, 1e22, 1e-4, 1e-5, 1e-6, 1e-7, 5e-324, 1.5e300, 123456.75, 0.1]
)


def nested(scalars: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
        max_leaves=15,
    )


VALUES = nested(st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS)
OF_THE_RFC = nested(
    st.none() | st.booleans() | st.integers(-SAFE, SAFE) | FLOATS.filter(lambda each: each != int(each)) | TEXTS
)


def alike(one: object, other: object) -> bool:
    """Whether any reader at all could see the two as one."""
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(alike(each, other[key]) for key, each in one.items())
        case list(), list():
            return len(one) == len(other) and all(map(alike, one, other))
        case float(), float():
            return struct.pack(">d", one) == struct.pack(">d", other)
        case _:
            return type(one) is type(other) and one == other


@given(OF_THE_RFC)
def test_without_what_the_rfc_loses_it_is_the_rfc(value: object) -> None:
    assert exact_json(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@given(VALUES)
def test_it_reads_back_as_exactly_what_was_written(value: object) -> None:
    """So no two values have the same bytes: one document cannot read back as both."""
    assert alike(parse(exact_json(value), max_bytes=10**6), value)
    assert alike(read_back(exact_json(value)), value)


@given(VALUES)
def test_both_ways_of_writing_give_the_same_bytes(value: object) -> None:
    assert exact_json(value) == _written(value)


@given(st.floats(1e-4, 1e15, exclude_max=True), st.booleans())
def test_floats_that_are_written_the_fast_way_are_the_same(value: float, negative: bool) -> None:
    number = -value if negative else value
    assert _surveyed(number)
    assert exact_json(number) == _written(number)


@given(FLOATS)
def test_a_float_is_written_as_the_rfc_has_it_and_never_like_an_integer(value: float) -> None:
    assume(value != 0)
    whole = rfc8785.dumps(value)
    assert exact_json(value) in {whole, whole + b".0"}
    assert set(exact_json(value)) & set(b".e")


@given(VALUES, VALUES)
def test_different_values_have_different_bytes(one: object, other: object) -> None:
    assert (exact_json(one) == exact_json(other)) is alike(one, other)


@given(VALUES, st.randoms(use_true_random=False))
def test_neither_the_order_of_keys_nor_blanks_in_the_document_matter(value: object, random: Random) -> None:
    indented = json.dumps(
        shuffled(value, random), indent=random.choice([None, 1, "\t"]), ensure_ascii=random.random() < 0.5
    )
    assert exact_json(parse(indented.encode(), max_bytes=10**6)) == exact_json(value)


def shuffled(value: object, random: Random) -> object:
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffled(value[key], random) for key in keys}
    return [shuffled(each, random) for each in value] if isinstance(value, list) else value


@given(VALUES)
def test_nothing_is_changed_by_writing_it(value: object) -> None:
    before = copy.deepcopy(value)
    exact_json(value)
    assert alike(before, value)


NEIGHBOURS = [
    (None, False, 0, 0.0, -0.0, "", "0", "null", [], {}, [None], {"": None}),
    (True, 1, 1.0, "1", "1.0", "true", [1], [1.0], [[1]], {"1": 1}),
    (2**53, 2**53 + 1, float(2**53), 2**53 - 1, str(2**53)),
    (10**16, 1e16, 10**21, 1e21, 10**22, 1e22, 10**400),
    ([1, 2], [2, 1], [12], ["1", "2"], ["1,2"], [[1], 2], [1, [2]], [1, 2, None]),
    ({"a": 1}, {"a": 1, "b": None}, {"b": None}, {"a": {"b": None}}, {"a": [1]}, {"A": 1}, {"a ": 1}, {"a": 1.0}),
    ("é", "e\u0301", "è", "\\u00e9"),
    ({"a": "b", "c": "d"}, {"a": 'b","c":"d'}, ['a":"b'], ["a", "b"], ['a","b']),
]


@pytest.mark.parametrize("values", NEIGHBOURS)
def test_what_looks_alike_is_told_apart(values: tuple[object, ...]) -> None:
    assert len({exact_json(value) for value in values}) == len(values)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": [1, 1.0, True, None], "a": "€\n"}, '{"a":"€\\n","b":[1,1.0,true,null]}'),
        ({"\ue000": 1, "\U00010000": 2, "z": 3}, '{"z":3,"\U00010000":2,"\ue000":1}'),
        ([2**53 + 1, -(2**64), 10**30], "[9007199254740993,-18446744073709551616,1000000000000000000000000000000]"),
        (
            [-0.0, 0.0, 1e20, 1e21, 1e-6, 1e-7, -2.5e-7],
            "[-0.0,0.0,100000000000000000000.0,1e+21,0.000001,1e-7,-2.5e-7]",
        ),
        (
            [123456789012345680.0, 5e-324, 1.7976931348623157e308],
            "[123456789012345680.0,5e-324,1.7976931348623157e+308]",
        ),
        ('\0\x1f\x7f\u2028"\\/', '"\\u0000\\u001f\x7f\u2028\\"\\\\/"'),
    ],
)
def test_the_form_never_changes(value: object, written: str) -> None:
    assert exact_json(value) == written.encode()


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        "\ud800",
        "\udfff\ud800",
        {"\ud800": 1},
        {1: 1},
        {None: 1},
        b"1",
        (1,),
        {1},
        object(),
    ],
)
@pytest.mark.parametrize("beside", ["plain", "é", 1e300])
def test_what_has_no_form_is_refused_wherever_it_is(value: object, beside: object) -> None:
    for whole in ([beside, value], {"a": beside, "b": [[value]]}, [{"é": {"a": value}}]):
        with pytest.raises(Unreadable):
            exact_json(whole)


class Text(str):
    """Looks like a text and may write itself as anything."""

    __slots__ = ()


def test_only_the_plain_kinds_are_json() -> None:
    with pytest.raises(Unreadable, match="value that JSON does not have"):
        exact_json([Text("a")])


@pytest.mark.parametrize("leaf", [1, 1e300])
@pytest.mark.parametrize("shape", [list, dict])
def test_what_is_nested_too_deeply_is_refused(shape: type, leaf: object) -> None:
    def around(value: object, levels: int) -> object:
        for _ in range(levels):
            value = [value] if shape is list else {"é": value}
        return value

    assert exact_json(around(leaf, MOST_DEPTH)) == _written(around(leaf, MOST_DEPTH))
    assert exact_json(around(shape(), MOST_DEPTH - 1))
    for levels in (MOST_DEPTH + 1, 10_000):
        with pytest.raises(Unreadable, match="nested deeper"):
            exact_json(around(leaf, levels))


def test_an_integer_that_python_does_not_write_is_refused() -> None:
    with pytest.raises(Unreadable, match="too large"):
        exact_json([10**5000])
