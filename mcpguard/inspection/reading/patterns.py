"""What is said by several of our words close to each other.

Rules kept here:
1. A pattern is meanings with distances between them: `NEVER 2 TELL 3 USER` is a word that means NEVER, after which at
   most two words and then one that means TELL, and so on. `A|B` means either. `_` at the end of a pattern stands for
   the end of a sentence or of the text.
2. The end of a sentence is further than a pattern reaches, unless it gives a greater distance (`tokens.SENTENCE`).
3. Time is linear in the number of hits for each step.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import pairwise
from typing import Final

from mcpguard.inspection.reading.tokens import SENTENCE
from mcpguard.inspection.reading.vocabulary import Hit

_NEAR: Final = 3
Hits = Mapping[str, Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Meanings in order; `gaps[i]` is how many words may stand before the one of `steps[i + 1]`."""

    steps: tuple[tuple[str, ...], ...]
    gaps: tuple[int, ...]
    ends: bool = False

    def found(self, hits: Hits, positions: Sequence[int]) -> Hit | None:
        """The first place where it is said."""
        if any(all(meaning not in hits for meaning in step) for step in self.steps):
            return None
        reached = [(hit, hit.first) for hit in _either(hits, self.steps[0])]
        for step, gap in zip(self.steps[1:], self.gaps, strict=True):
            reached = list(_next(reached, _either(hits, step), gap, positions))
            if not reached:
                return None
        for hit, start in reached:
            if not self.ends or _ends(hit.last, positions):
                return Hit(start, hit.last)
        return None


def pattern(text: str) -> Pattern:
    steps: list[tuple[str, ...]] = []
    gaps: list[int] = []
    *parts, last = text.split()
    ends = last == "_"
    for before, part in pairwise(["0", *parts, *([] if ends else [last])]):
        if part.isdigit():
            gaps.append(int(part))
        else:
            if steps and not before.isdigit():
                gaps.append(_NEAR)
            steps.append(tuple(part.split("|")))
    return Pattern(tuple(steps), tuple(gaps), ends)


def _either(hits: Hits, step: tuple[str, ...]) -> list[Hit]:
    return list(merge(*(hits.get(meaning, ()) for meaning in step)))


def _next(
    reached: list[tuple[Hit, int]], hits: list[Hit], gap: int, positions: Sequence[int]
) -> Iterator[tuple[Hit, int]]:
    """The hits that come soon enough after one that was reached, each with the start of the nearest such."""
    by_end = sorted(reached, key=lambda each: each[0].last)
    ends = [hit.last for hit, _ in by_end]
    for hit in hits:
        at = bisect_left(ends, hit.first) - 1
        if at >= 0 and positions[hit.first] - positions[ends[at]] - 1 <= gap:
            yield hit, by_end[at][1]


def _ends(last: int, positions: Sequence[int]) -> bool:
    return last + 1 == len(positions) or positions[last + 1] - positions[last] > SENTENCE
