"""Patterns of meanings that stand close to each other, and the search for them in a text.

Rules kept here:
1. A pattern is a sequence of meanings with distances: `NEVER 2 TELL 3 USER` matches a word that means NEVER, then after
   at most two words one that means TELL, and so on. `A|B` means either. `_` at the end of a pattern stands for the end
   of a sentence or of the text.
2. `~12 SEND SECRETS URL` matches one word of each meaning, in any order, with at most twelve words between the first
   and the last.
3. A pattern does not reach across the end of a sentence unless it gives a greater distance (`tokens.SENTENCE`).
4. Time is linear in the number of hits for each step.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain, pairwise
from typing import Final

from mcpguard.inspection.reading.tokens import SENTENCE
from mcpguard.inspection.reading.vocabulary import PhraseHit

_NEAR: Final = 3
_BITS: Final[dict[str, int]] = {}
Hits = Mapping[str, Sequence[PhraseHit]]


def mask(meanings: Iterable[str]) -> int:
    """Return the meanings as bits of a number, so that most patterns can be skipped quickly."""
    bits = 0
    for meaning in meanings:
        bits |= 1 << _BITS.setdefault(meaning, len(_BITS))
    return bits


@dataclass(frozen=True, slots=True)
class MeaningPattern:
    """Meanings in order; `gaps[i]` is how many words may stand before the one of `steps[i + 1]`.

    With `within`, the meanings stand in any order, at most so many words apart.
    """

    steps: tuple[tuple[str, ...], ...]
    gaps: tuple[int, ...]
    ends: bool = False
    within: int = 0
    needs: tuple[int, ...] = ()
    """For each step, the mask of the meanings of which a text has to have one."""

    def may_match(self, meanings: int) -> bool:
        """Tell whether a text with these meanings, as a mask, can match."""
        for step in self.needs:  # noqa: SIM110 - the innermost loop of all: a generator takes three times as long
            if not meanings & step:
                return False
        return True

    def find(self, hits: Hits, positions: Sequence[int]) -> PhraseHit | None:
        """Return the first place that matches."""
        if self.within:
            return _together([_either(hits, step) for step in self.steps], self.within, positions)
        return next(self._in_order(hits, positions), None)

    def find_all(self, hits: Hits, positions: Sequence[int]) -> Iterator[PhraseHit]:
        """Yield every place that matches; of meanings in any order, the first."""
        if not self.within:
            yield from self._in_order(hits, positions)
        elif found := self.find(hits, positions):
            yield found

    def _in_order(self, hits: Hits, positions: Sequence[int]) -> Iterator[PhraseHit]:
        reached = [(hit, hit.first) for hit in _either(hits, self.steps[0])]
        for step, gap in zip(self.steps[1:], self.gaps, strict=True):
            if not reached:
                return
            reached = list(_next(reached, _either(hits, step), gap, positions))
        for hit, start in reached:
            if not self.ends or _ends(hit.last, positions):
                yield PhraseHit(start, hit.last)


def pattern(text: str) -> MeaningPattern:
    """Read a pattern as detectors write it: `NEVER 2 TELL|SPEAK 3 USER _`."""
    steps: list[tuple[str, ...]] = []
    gaps: list[int] = []
    if text.startswith("~"):
        within, *words = text[1:].split()
        either = tuple(tuple(part.split("|")) for part in words)
        return MeaningPattern(either, (), within=int(within), needs=tuple(map(mask, either)))
    *parts, last = text.split()
    ends = last == "_"
    for before, part in pairwise(["0", *parts, *([] if ends else [last])]):
        if part.isdigit():
            gaps.append(int(part))
        else:
            if steps and not before.isdigit():
                gaps.append(_NEAR)
            steps.append(tuple(part.split("|")))
    return MeaningPattern(tuple(steps), tuple(gaps), ends, needs=tuple(map(mask, steps)))


def _either(hits: Hits, step: tuple[str, ...]) -> Sequence[PhraseHit]:
    found = [hits[meaning] for meaning in step if meaning in hits]
    return found[0] if len(found) == 1 else sorted(chain.from_iterable(found))


def _next(
    reached: list[tuple[PhraseHit, int]], hits: Sequence[PhraseHit], gap: int, positions: Sequence[int]
) -> Iterator[tuple[PhraseHit, int]]:
    """Yield the hits that follow closely on one that was reached, each with the start of the nearest of these."""
    by_end = sorted(reached, key=lambda each: each[0].last)
    ends = [hit.last for hit, _ in by_end]
    for hit in hits:
        at = bisect_left(ends, hit.first) - 1
        if at >= 0 and positions[hit.first] - positions[ends[at]] - 1 <= gap:
            yield hit, by_end[at][1]


def _together(steps: Sequence[Sequence[PhraseHit]], within: int, positions: Sequence[int]) -> PhraseHit | None:
    """Return the first place where a hit of each step, each another word, stands close to the others."""
    latest: dict[int, PhraseHit] = {}
    for hit, step in merge(*([(hit, step) for hit in hits] for step, hits in enumerate(steps))):
        latest[step] = hit
        first = min(each.first for each in latest.values())
        if len(latest) == len(steps) and positions[hit.last] - positions[first] <= within and _apart(latest.values()):
            return PhraseHit(first, max(each.last for each in latest.values()))
    return None


def _apart(hits: Iterable[PhraseHit]) -> bool:
    ordered = sorted(hits)
    return all(one.last < other.first for one, other in pairwise(ordered))


def _ends(last: int, positions: Sequence[int]) -> bool:
    return last + 1 == len(positions) or positions[last + 1] - positions[last] > SENTENCE
