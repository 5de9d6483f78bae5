"""What is too large is refused, and how far it is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.objections import Detail
from mcpguard.domain.reasons import Reason
from mcpguard.policy.arguments.argument_checks import depth, nested_too_deeply
from mcpguard.policy.rules.arguments_size import objection
from tests.policy.situations import FINE, Carried

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('[{}]"\\x', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('[{}]"', max_size=3), inner, max_size=3),
    max_leaves=12,
)


def levels(value: object) -> int:
    """As one would write it down."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(levels, inner), default=0)
    return 0


def test_it_objects_to_what_is_too_large_and_tells_how() -> None:
    detail = Detail(path="$", expected="less")
    found = objection(replace(FINE, arguments=Carried(too_large=detail)))
    assert found is not None
    assert (found.reason, found.detail) == (Reason.ARGUMENTS_TOO_LARGE, detail)
    assert objection(replace(FINE, arguments=Carried())) is None
    assert objection(FINE) is None


@given(JSON)
def test_nesting_is_counted_as_it_is(value: object) -> None:
    assert depth(value) == levels(value)


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=3), st.integers(0, 8))
def test_exactly_what_is_nested_too_deeply_is_said_to_be(params: dict[str, object], most: int) -> None:
    assert (nested_too_deeply(params, most) is None) == (levels(params) <= most)


@pytest.mark.parametrize("levels_", [49, 5000])
def test_depth_does_not_need_the_stack(levels_: int) -> None:
    value: object = 1
    for _ in range(levels_):
        value = [value]
    assert depth(value) == levels_
