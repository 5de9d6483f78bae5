"""How two versions of a definition differ."""

from itertools import product
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcpguard.inspection.diff.changes import ChangeKind, Diff
from mcpguard.inspection.diff.diff import compare_definitions
from tests.inspection.applying import applied, exactly
from tests.tiers import examples

keys = st.sampled_from(["name", "description", "type", "a/b", "~", ""])
numbers: list[object] = [0, 1, 1.0, 0.0, -0.0, 2**70, 2.5]
scalars = st.sampled_from([None, True, False, *numbers, "", "1", "two words", "two other", "\ud800"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(keys, inner, max_size=5), max_leaves=30
)


def told(diff: Diff) -> list[tuple[str, str]]:
    assert diff.complete
    return [
        (change.kind.value, "/".join(map(str, change.new_path or change.old_path or ()))) for change in diff.changes
    ]


@settings(deadline=None, max_examples=examples(300))
@given(values, values)
@example({"a": [None, None], "b": "\ud800"}, {"a": [None, None], "b": "\ud800"})
@example({"a": [None, None], "b": 1}, {"a": [None, None], "b": 2})
def test_carrying_out_the_changes_makes_the_one_the_other(before: object, after: object) -> None:
    diff = compare_definitions(before, after)
    assert diff.complete
    assert exactly(applied(diff.changes, before), after)
    assert bool(diff.changes) is not exactly(before, after)


@settings(deadline=None)
@given(values)
def test_a_value_does_not_differ_from_itself(value: object) -> None:
    assert compare_definitions(value, value) == Diff(())


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=3), scalars))
def test_the_order_of_members_means_nothing(value: dict[str, object]) -> None:
    assert compare_definitions(value, dict(reversed(value.items()))) == Diff(())


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcdef"), max_size=12), st.sampled_from("xyz"), st.integers(0, 12))
def test_an_element_that_was_put_in_is_one_addition(elements: list[str], added: str, at: int) -> None:
    (change,) = compare_definitions(elements, [*elements[:at], added, *elements[at:]]).changes
    assert (change.kind, change.after, change.new_path) == (ChangeKind.ADDED, added, (min(at, len(elements)),))


def test_values_that_are_equal_to_python_are_four_values() -> None:
    for one, other in product([1, 1.0, True, "1"], repeat=2):
        for before, after in [(one, other), ([one], [other]), ({"a": one}, {"a": other}), ([[one], 2], [[other], 2])]:
            assert len(compare_definitions(before, after).changes) == (one is not other)


def test_null_is_there_and_absent_is_not() -> None:
    assert told(compare_definitions({"a": None}, {})) == [("removed", "a")]
    assert told(compare_definitions({}, {"a": None})) == [("added", "a")]
    assert told(compare_definitions({"a": None}, {"a": False})) == [("changed", "a")]


def test_only_the_order_of_elements_changed() -> None:
    diff = compare_definitions({"required": ["a", "b", "c"]}, {"required": ["c", "a", "b"]})
    assert told(diff) == [("changed", "required")]
    assert diff.changes[0].after == ["c", "a", "b"]


def test_objects_in_lists_are_known_by_their_names() -> None:
    before = {"arguments": [{"name": "city", "required": True}, {"name": "unit"}]}
    after = {"arguments": [{"name": "country"}, {"name": "city", "required": False}, {"name": "unit"}]}
    diff = compare_definitions(before, after)
    assert told(diff) == [("added", "arguments/0"), ("changed", "arguments/1/required")]
    assert diff.changes[1].old_path == ("arguments", 0, "required")


def test_elements_that_cannot_be_told_apart_are_matched_in_order() -> None:
    before: list[Any] = [{"type": "string"}, {"type": "null"}]
    after: list[Any] = [{"type": "string", "minLength": 1}, {"type": "integer"}, {"type": "null"}]
    assert told(compare_definitions(before, after)) == [("added", "0/minLength"), ("added", "1")]
    assert told(compare_definitions(["a", "b", "c"], ["a", "x", "c"])) == [("changed", "1")]
    assert told(compare_definitions(["a", "b", "c"], ["a", "x", "y", "c"])) == [
        ("removed", "1"),
        ("added", "1"),
        ("added", "2"),
    ]


def test_a_definition_is_told_in_the_order_in_which_it_is_read() -> None:
    before = {"x": 1, "inputSchema": {"z": 1, "a": 1}, "description": "a", "name": "a"}
    after = {"x": 2, "inputSchema": {"z": 2, "a": 2}, "description": "b", "name": "b"}
    assert [path for _, path in told(compare_definitions(before, after))] == [
        "name",
        "description",
        "inputSchema/z",
        "inputSchema/a",
        "x",
    ]
