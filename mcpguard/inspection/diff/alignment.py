"""Finds the common parts of two sequences at a cost that is bounded whatever they contain.

Rules kept here:
1. The shortest difference is searched for first (Myers), up to a limit on the number of edits. Sequences that differ by
   more are split at elements that occur exactly once in both, and the parts in between are aligned separately.
2. Every step is charged to an `Effort`. When it is used up, everything not yet aligned counts as different: the result
   becomes coarser, never wrong.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MOST_EDITS = 200
"""Edits of one search for the shortest difference, whose cost grows with their square."""


class Run(NamedTuple):
    """`length` elements from `old` on in the one sequence are those from `new` on in the other."""

    old: int
    new: int
    length: int


@dataclass(slots=True)
class Effort:
    """A budget of steps: how many are left, and how often that was not enough."""

    left: int
    refusals: int = 0

    def spend(self, steps: int) -> bool:
        """Spend the steps and return True if there are enough left; otherwise spend nothing and return False."""
        if steps > self.left:
            self.refusals += 1
            return False
        self.left -= steps
        return True


def common_length(length: int, same: Callable[[int, int], bool]) -> int:
    """Return how far two things agree from their beginning, by halving; `same(a, b)` compares from `a` to `b`."""
    low, high = 0, length
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def align(old: Sequence[Hashable], new: Sequence[Hashable], effort: Effort) -> list[Run]:
    """Return what the sequences have in common, in order; no run crosses another."""
    numbers: dict[Hashable, int] = {}
    olds = [numbers.setdefault(element, len(numbers)) for element in old]
    news = [numbers.setdefault(element, len(numbers)) for element in new]
    aligned: list[Run] = []
    waiting = [(0, len(olds), 0, len(news))]
    while waiting:
        start, end, new_start, new_end = waiting.pop()
        if not effort.spend(end - start + new_end - new_start):
            continue
        head = _agreeing(olds[start:end], news[new_start:new_end])
        aligned.append(Run(start, new_start, head))
        start, new_start = start + head, new_start + head
        tail = _agreeing(olds[start:end][::-1], news[new_start:new_end][::-1])
        end, new_end = end - tail, new_end - tail
        aligned.append(Run(end, new_end, tail))
        middle = _middle(olds[start:end], news[new_start:new_end], effort)
        runs = [Run(start + run.old, new_start + run.new, run.length) for run in middle.runs]
        aligned += runs
        if not middle.whole and runs:
            waiting += _between(runs, start, end, new_start, new_end)
    return sorted(run for run in aligned if run.length)


class _Middle(NamedTuple):
    """Runs in sequences that differ at both ends. Unless `whole`, there may be more runs between these."""

    runs: list[Run]
    whole: bool


def _middle(old: list[int], new: list[int], effort: Effort) -> _Middle:
    if not old or not new:
        return _Middle([], whole=True)
    shortest = _shortest(old, new, effort)
    if shortest is not None:
        return _Middle(shortest, whole=True)
    return _Middle(_anchors(old, new) if effort.spend(len(old) + len(new)) else [], whole=False)


def _agreeing(old: list[int], new: list[int]) -> int:
    return next(
        (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new))
    )


def _between(runs: list[Run], start: int, end: int, new_start: int, new_end: int) -> list[tuple[int, int, int, int]]:
    regions = []
    for run in [*runs, Run(end, new_end, 0)]:
        if start < run.old and new_start < run.new:
            regions.append((start, run.old, new_start, run.new))
        start, new_start = run.old + run.length, run.new + run.length
    return regions


def _shortest(old: list[int], new: list[int], effort: Effort) -> list[Run] | None:
    """Run Myers' greedy search; return None if it takes too many edits or steps."""
    furthest = {1: 0}
    trace = []
    for edits in range(min(MOST_EDITS, len(old) + len(new)) + 1):
        trace.append(furthest.copy())
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
            at = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            begun = at
            while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
                at += 1
            furthest[diagonal] = at
            if at >= len(old) and at - diagonal >= len(new):
                return _walked_back(trace, len(old), len(new))
            if not effort.spend(at - begun + 1):
                return None
    return None


def _walked_back(trace: list[dict[int, int]], at: int, new_at: int) -> list[Run]:
    runs = []
    for edits in range(len(trace) - 1, -1, -1):
        furthest, diagonal = trace[edits], at - new_at
        down = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
        before = diagonal + 1 if down else diagonal - 1
        from_ = furthest[before] if down else furthest[before] + 1
        runs.append(Run(from_, from_ - diagonal, at - from_))
        at = furthest[before]
        new_at = at - before
    return [run for run in reversed(runs) if run.length]


def _anchors(old: list[int], new: list[int]) -> list[Run]:
    """Return the longest chain of elements that occur exactly once in both."""
    counts, new_counts = Counter(old), Counter(new)
    places = {element: at for at, element in enumerate(new) if new_counts[element] == 1}
    pairs = [(at, places[element]) for at, element in enumerate(old) if counts[element] == 1 and element in places]
    ends: list[int] = []
    last: list[int] = []
    previous: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        previous.append(last[length - 1] if length else -1)
        last[length : length + 1] = [number]
    chain = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(Run(*pairs[number], 1))
        number = previous[number]
    return chain[::-1]
