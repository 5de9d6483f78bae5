"""Matches the elements of two versions of a list.

Equal elements are matched first, and between them objects with the same `name`. The remaining elements are matched in
order if both sides have equally many, or if all are objects. Matches never cross.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from mcpguard.inspection.diff.alignment import Effort, Run, align, common_length
from mcpguard.inspection.diff.sameness import Sameness

MOST_ELEMENTS: Final = 5_000
"""Longer lists are matched in order, except for what is the same at both ends."""
_WORTH_TRIMMING: Final = 100


class Pair(NamedTuple):
    """The place of an element in the old and in the new list; None where there is none."""

    old: int | None
    new: int | None


def same_ends(old: list[Any], new: list[Any], sameness: Sameness) -> tuple[int, int]:
    """Return how many elements at the beginning, and how many at the end, are known to be the same."""
    shorter = min(len(old), len(new))
    if shorter < _WORTH_TRIMMING:
        return 0, 0
    head = common_length(shorter, lambda a, b: sameness.are_same(old[a:b], new[a:b]))
    ends = len(old), len(new)
    tail = common_length(
        shorter - head, lambda a, b: sameness.are_same(old[ends[0] - b : ends[0] - a], new[ends[1] - b : ends[1] - a])
    )
    return head, tail


def match_elements(old: list[Any], new: list[Any], sameness: Sameness, effort: Effort) -> list[Pair] | None:
    """Return which element became which, without those known to be the same; None if only the order has changed."""
    if max(len(old), len(new)) > MOST_ELEMENTS:
        return list(_in_order(Run(0, 0, 0), Run(len(old), len(new), 0)))
    keys, new_keys = _keys(old, sameness), _keys(new, sameness)
    if keys != new_keys and Counter(keys) == Counter(new_keys):
        return None
    return list(_gaps(old, new, align(keys, new_keys, effort), effort))


def _keys(elements: list[Any], sameness: Sameness) -> list[Hashable]:
    return [object() if (key := sameness.key(element)) is None else key for element in elements]


def _gaps(old: list[Any], new: list[Any], runs: Sequence[Run], effort: Effort) -> Iterator[Pair]:
    after = Run(0, 0, 0)
    for run in [*runs, Run(len(old), len(new), 0)]:
        start, new_start = after.old + after.length, after.new + after.length
        named = align(_names(old[start : run.old]), _names(new[new_start : run.new]), effort)
        last = Run(start, new_start, 0)
        for at in (Run(start + one.old + i, new_start + one.new + i, 1) for one in named for i in range(one.length)):
            yield from _left(old, new, last, at)
            yield Pair(at.old, at.new)
            last = at
        yield from _left(old, new, last, run)
        after = run


def _names(elements: list[Any]) -> list[Hashable]:
    return [
        element["name"] if isinstance(element, dict) and isinstance(element.get("name"), str) else object()
        for element in elements
    ]


def _left(old: list[Any], new: list[Any], after: Run, before: Run) -> Iterator[Pair]:
    """Yield the pairs between two matches."""
    olds, news = old[after.old + after.length : before.old], new[after.new + after.length : before.new]
    if len(olds) == len(news) or all(isinstance(element, dict) for element in olds + news):
        yield from _in_order(after, before)
    else:
        yield from (Pair(at, None) for at in range(after.old + after.length, before.old))
        yield from (Pair(None, at) for at in range(after.new + after.length, before.new))


def _in_order(after: Run, before: Run) -> Iterator[Pair]:
    olds = range(after.old + after.length, before.old)
    news = range(after.new + after.length, before.new)
    yield from (Pair(*both) for both in zip_longest(olds, news))
