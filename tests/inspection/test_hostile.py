"""Definitions that are made to exhaust whoever compares them, or to hide one change among many."""

import random
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from mcpguard.inspection.diff.changes import ChangeKind, Diff
from mcpguard.inspection.diff.diff import MOST_CHANGES, MOST_PLACES, compare_definitions
from mcpguard.inspection.diff.shown_values import as_json, render_lines
from tests.inspection.applying import applied, exactly

LONG = 5_000_000
MANY = 100_000
HIDDEN = "\u200b\u200c\u202e\U000e0041"


def some(characters: str, length: int, seed: int) -> str:
    drawn = random.Random(seed).randbytes(length)  # noqa: S311 - nothing secret
    return drawn.decode("latin-1").translate({byte: characters[byte % len(characters)] for byte in range(256)})


def nested(levels: int, innermost: object, within: str) -> object:
    for _ in range(levels):
        innermost = {"a": innermost} if within == "objects" else [innermost]
    return innermost


def shown(diff: Diff) -> list[str]:
    """The lines, after both forms were found to have an end."""
    lines = render_lines(diff)
    assert sum(map(len, lines)) < 400_000
    assert len(orjson.dumps(as_json(diff))) < 1_000_000
    return lines


@pytest.mark.parametrize(
    "texts",
    [
        lambda: ("x" * LONG, "y" * LONG),
        lambda: ("x" * LONG, "x" * (LONG - 1) + "y"),
        lambda: ("word " * (LONG // 5), "word " * (LONG // 5) + "more"),
        lambda: (some("ab ", LONG, 1), some("ab ", LONG, 2)),
        lambda: (some("ab.\n", LONG, 1), some("ab.\n", LONG, 2)),
        lambda: (some(HIDDEN, LONG, 1), some(HIDDEN, LONG, 2)),
        lambda: (some(HIDDEN, 100_000, 1), some(HIDDEN, 100_000, 2)),
        lambda: ("a" * 15_000, "a\u200b" * 15_000),
        lambda: ("\n" * LONG, "\n\t" * (LONG // 2)),
        lambda: (some("👩💻é\u0301\u200d", 300_000, 1), some("👩💻é\u0301\u200d", 300_000, 2)),
        lambda: ("\ud800" * 1000, "\udfff" * 1000),
        lambda: ("", "x" * LONG),
    ],
    ids=range(12),
)
def test_texts_of_any_kind(texts: Callable[[], tuple[str, str]]) -> None:
    old, new = texts()
    diff = compare_definitions({"description": old}, {"description": new})
    (change,) = diff.changes
    assert change.words is not None
    assert "".join(text for fate, text in change.words.spans if fate != "added") == old
    assert "".join(text for fate, text in change.words.spans if fate != "removed") == new
    assert len(shown(diff)) > 1


def test_one_change_among_very_many_members() -> None:
    before = {f"k{number}": number for number in range(MANY)}
    diff = compare_definitions(before, {**before, "k777": "evil"})
    assert diff.complete
    assert shown(diff) == ["~ /k777", "    - 777", '    + "evil"']


@pytest.mark.parametrize(
    "making",
    [
        lambda: {f"k{number}": -1 for number in range(MANY)},
        lambda: {f"n{number}": number for number in range(MANY)},
        dict,
    ],
    ids=["changed", "renamed", "removed"],
)
def test_changes_beyond_the_most_are_counted(making: Callable[[], dict[str, Any]]) -> None:
    before, after = {f"k{number}": number for number in range(MANY)}, making()
    diff = compare_definitions(before, after)
    changes = len(before.keys() | after.keys())
    assert (len(diff.changes), diff.left_out.changes) == (MOST_CHANGES, changes - MOST_CHANGES)
    assert not diff.complete
    assert shown(diff)[-1] == f"⟨{MOST_CHANGES} changes are shown; there are at least {changes - MOST_CHANGES} more⟩"


@pytest.mark.parametrize(
    ("lists", "finds"),
    [
        (lambda: ([1] * 500_000, [1] * 250_000 + [2] + [1] * 250_000), 1),
        (lambda: (list(range(4000)), [*range(1000), *range(2000, 4000), 7, 8]), 202),
        (lambda: (list(range(500_000)), list(range(1, 500_001))), 0),
        (lambda: ([[number] for number in range(MANY)], [[-number] for number in range(MANY)]), 0),
        (
            lambda: (
                [{"name": f"n{number}"} for number in range(4000)],
                [{"name": f"m{number}"} for number in range(4000)],
            ),
            202,
        ),
    ],
    ids=range(5),
)
def test_long_lists(lists: Callable[[], tuple[list[Any], list[Any]]], finds: int) -> None:
    old, new = lists()
    diff = compare_definitions(old, new)
    assert len(diff.changes) == min(finds, MOST_CHANGES)
    assert diff.complete is (finds == 1)
    assert shown(diff)


@pytest.mark.parametrize("within", ["objects", "lists"])
@pytest.mark.parametrize("levels", [64, 1000, 10_000])
def test_deep_values(levels: int, within: str) -> None:
    diff = compare_definitions(nested(levels, 1, within), nested(levels, 2, within))
    assert len(diff.changes) + len(diff.left_out.places) == 1
    assert diff.complete or levels == 10_000
    assert len(shown(diff)[0]) < 500
    whole = compare_definitions({}, {"deep": nested(levels, 1, within)})
    assert [change.kind for change in whole.changes] == [ChangeKind.ADDED]
    assert shown(whole)


def test_deep_and_broad_at_once() -> None:
    before = {f"k{number}": nested(60, number, "objects") for number in range(2500)}
    after = {f"k{number}": nested(60, number + 1, "objects") for number in range(2500)}
    diff = compare_definitions({"z": before, "description": "Reads."}, {"z": after, "description": "Deletes."})
    assert diff.changes[0].new_path == ("description",)
    assert len(diff.left_out.places) == MOST_PLACES
    assert f"⟨not compared: {diff.left_out.more_places} more places⟩" in shown(diff)


def test_many_changes_do_not_hide_what_is_read_first() -> None:
    noise = {f"a{number}": number for number in range(1000)}
    tool = {**noise, "x": noise, "inputSchema": {"properties": noise}, "description": "Reads.", "name": "read"}
    other = dict.fromkeys(noise, -1)
    changed = {**other, "x": other, "inputSchema": {"properties": other}, "description": "Reads all.", "name": "read"}
    diff = compare_definitions(tool, changed)
    assert diff.changes[0].new_path == ("description",)
    assert diff.left_out.changes == 3001 - MOST_CHANGES


def test_numbers_that_cannot_be_written_out() -> None:
    before = {"a": {"big": 10**4000, "small": 1}, "list": [10**4000, [2**64], 1.5]}
    after = {"a": {"big": 10**4000, "small": 2}, "list": [10**4000, [2**64 + 1], 1.5]}
    diff = compare_definitions(before, after)
    assert exactly(applied(diff.changes, before), after)
    assert [change.new_path for change in diff.changes] == [("a", "small"), ("list", 1, 0)]
    assert shown(compare_definitions(10**4000, 1.5))


def test_very_many_changes_to_long_texts() -> None:
    before = {f"k{number}": some("ab " + HIDDEN, 5000, number) for number in range(MOST_CHANGES)}
    after = {f"k{number}": some("ab " + HIDDEN, 5000, -1 - number) for number in range(MOST_CHANGES)}
    diff = compare_definitions(before, after)
    assert diff.complete
    assert exactly(applied(diff.changes, before), after)
    assert len([line for line in shown(diff) if line.startswith("~ ")]) == MOST_CHANGES
