"""Compares two strings word by word, for display to a person.

Rules kept here:
1. Kept and removed spans, joined, are exactly the old string; kept and added spans are exactly the new one.
2. Words are not split, except at hidden characters: where two words differ only in those, only they are removed or
   added. (A word of hundreds of letters may be split too.)
3. Where a reader sees one phrase replaced by another, the diff has one removed and one added span (`phrases`).
4. The cost is bounded by the `Effort`. Differences that exceed it become one removed and one added span, and the result
   is marked `coarse`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from mcpguard.inspection.diff.alignment import Effort, Run, align, common_length
from mcpguard.inspection.diff.diff_tokens import breaks, pieces, sentences, within_word
from mcpguard.inspection.diff.phrases import PhrasePart, join_parts, merge_into_phrases, split_hidden

EFFORT: Final = 100_000
"""Effort for two strings that are compared alone: some 40 ms."""
_LONGEST_WORD: Final = 200
"""How far a place inside a word is moved to find where the word begins or ends."""


class Fate(StrEnum):
    """What became of a part of a string."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


class WordSpan(NamedTuple):
    """A part of the old string, of the new one, or of both."""

    fate: Fate
    text: str


@dataclass(frozen=True, slots=True)
class WordDiff:
    """The difference between two strings. `coarse`: some of what differs was not compared word by word."""

    spans: tuple[WordSpan, ...]
    coarse: bool = False


def compare_words(old: str, new: str, effort: Effort | None = None) -> WordDiff:
    """Return the difference between two strings. Two empty strings have no spans at all."""
    effort = effort or Effort(EFFORT)
    refusals = effort.refusals
    head = _same_head(old, new)
    tail = _same_tail(old[head:], new[head:])
    middle = _by_sentences(old[head : len(old) - tail], new[head : len(new) - tail], effort)
    ends = PhrasePart(old[:head], new[:head]), PhrasePart(old[len(old) - tail :], new[len(new) - tail :])
    coarse = effort.refusals > refusals
    parts = merge_into_phrases(join_parts([ends[0], *middle, ends[1]]), effort)
    return WordDiff(tuple(span for part in parts for span in _spans(part)), coarse)


def _spans(part: PhrasePart) -> list[WordSpan]:
    if part.unchanged:
        return [WordSpan(Fate.KEPT, part.old)]
    both = WordSpan(Fate.REMOVED, part.old), WordSpan(Fate.ADDED, part.new)
    return [span for span in both if span.text]


def _same_head(old: str, new: str) -> int:
    head = common_length(min(len(old), len(new)), lambda start, end: old[start:end] == new[start:end])
    for at in range(head, max(head - _LONGEST_WORD, -1), -1):
        if not within_word(old, at) and not within_word(new, at):
            return at
    return head


def _same_tail(old: str, new: str) -> int:
    ends = len(old), len(new)
    tail = common_length(min(ends), lambda a, b: old[ends[0] - b : ends[0] - a] == new[ends[1] - b : ends[1] - a])
    for at in range(tail, max(tail - _LONGEST_WORD, -1), -1):
        if not within_word(old, ends[0] - at) and not within_word(new, ends[1] - at):
            return at
    return tail


def _by_sentences(old: str, new: str, effort: Effort) -> list[PhrasePart]:
    whole = PhrasePart(old, new)
    if not old or not new or not effort.spend((len(old) + len(new)) // 128 + (breaks(old) + breaks(new)) // 4):
        return [whole]
    if len(hidden := list(split_hidden(whole, effort))) > 1:
        return hidden
    return [
        piece
        for part in _aligned(sentences(old), sentences(new), effort)
        for piece in ([part] if part.unchanged else _by_words(part, effort))
    ]


def _by_words(part: PhrasePart, effort: Effort) -> list[PhrasePart]:
    if not part.old or not part.new or not effort.spend((len(part.old) + len(part.new)) // 4):
        return [part]
    return _aligned(pieces(part.old), pieces(part.new), effort)


def _aligned(olds: list[str], news: list[str], effort: Effort) -> list[PhrasePart]:
    parts = []
    at = new_at = 0
    for run in [*align(olds, news, effort), Run(len(olds), len(news), 0)]:
        parts.append(PhrasePart("".join(olds[at : run.old]), "".join(news[new_at : run.new])))
        at, new_at = run.old + run.length, run.new + run.length
        same = "".join(olds[run.old : at])
        parts.append(PhrasePart(same, same))
    return parts
