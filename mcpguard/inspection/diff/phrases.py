"""Turns the shortest difference between two texts into a readable one.

Rules kept here:
1. Nothing is lost: the old texts of all parts, joined, are unchanged, and so are the new ones.
2. What two phrases have in common by chance (spaces between words, a "the" in the middle) counts as replaced with them.
   Kept line breaks and kept hidden characters are always shown as kept.
3. A part that was only added or only removed begins at a line or a sentence where possible.
4. Where two words differ only in hidden characters, the difference consists of these characters.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from mcpguard.inspection.diff.alignment import Effort
from mcpguard.inspection.diff.diff_tokens import classes, within_word, without_hidden

_FARTHEST: Final = 300
"""How far something added or removed is moved, and how many characters may be common by chance."""
_MOST_MOVED: Final = 400
"""How many parts are moved; nobody reads how later ones begin."""
_LONGEST_HIDDEN: Final = 40_000
_ENDS: Final = frozenset({". ", "! ", "? ", ": "})
"""The ends of a sentence."""
_PASSES: Final = 6
"""How often parts are absorbed: each time what is replaced grows, so that it may absorb more."""


class PhrasePart(NamedTuple):
    """A part of the old text and what it has become; equal if it was kept."""

    old: str
    new: str

    @property
    def unchanged(self) -> bool:
        """Whether the part is the same in both texts."""
        return self.old == self.new


def merge_into_phrases(parts: list[PhrasePart], effort: Effort) -> list[PhrasePart]:
    """Return the parts, which alternate between kept and replaced, as a person would put them."""
    exact = join_parts([piece for part in parts for piece in split_hidden(part, effort)])
    whole = exact
    for _ in range(_PASSES):
        before, whole = whole, join_parts(_absorbed(whole))
        if len(whole) == len(before):
            break
    for at in range(1, min(len(whole) - 1, _MOST_MOVED)):
        if not whole[at].unchanged and not (whole[at].old and whole[at].new):
            whole[at - 1 : at + 2] = _moved(*whole[at - 1 : at + 2])
    return join_parts(whole)


def join_parts(parts: Iterable[PhrasePart]) -> list[PhrasePart]:
    """Return the parts joined, so that kept and replaced ones alternate and none is empty."""
    filled = (part for part in parts if part.old or part.new)
    groups = (list(group) for _, group in groupby(filled, key=lambda part: part.unchanged))
    return [PhrasePart("".join(part.old for part in group), "".join(part.new for part in group)) for group in groups]


def split_hidden(part: PhrasePart, effort: Effort) -> Iterator[PhrasePart]:
    """Yield the part, character by character if its texts differ in hidden characters only."""
    old, new = part
    length = len(old) + len(new)
    replaced = not part.unchanged and old and new and length <= _LONGEST_HIDDEN
    if not replaced or _plain(old + new) or without_hidden(old) != without_hidden(new) or not effort.spend(length):
        yield part
    else:
        hidden, at, new_at = classes(old), 0, 0
        while at < len(old) or new_at < len(new):
            if old[at : at + 1] == new[new_at : new_at + 1]:
                yield PhrasePart(old[at], old[at])
                at, new_at = at + 1, new_at + 1
            elif hidden[at : at + 1] == "h":
                yield PhrasePart(old[at], "")
                at += 1
            else:
                yield PhrasePart("", new[new_at])
                new_at += 1


def _plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _absorbed(parts: list[PhrasePart]) -> Iterator[PhrasePart]:
    last: PhrasePart | None = None
    at = 0
    while at < len(parts):
        part = parts[at]
        following = parts[at + 1] if at + 1 < len(parts) else None
        if last and not last.unchanged and part.unchanged and following and _by_chance(last, part.old, following):
            last = PhrasePart(last.old + part.old + following.old, last.new + part.new + following.new)
            at += 2
            continue
        if last:
            yield last
        last = part
        at += 1
    if last:
        yield last


def _by_chance(left: PhrasePart, kept: str, right: PhrasePart) -> bool:
    if len(kept) > _FARTHEST:
        return False
    kinds = classes(kept)
    letters = kinds.count("w")
    if "h" in kinds or "n" in kinds:
        return False
    replaced = (1 if left.old and left.new else 0) + (1 if right.old and right.new else 0)
    if not letters:
        return replaced > 0
    return (3 if replaced == 2 else 5) * letters <= min(max(map(len, left)), max(map(len, right)))


def _moved(left: PhrasePart, part: PhrasePart, right: PhrasePart) -> list[PhrasePart]:
    """Return the same addition or removal with a better beginning: it may roll along the kept texts around it."""
    text = part.old or part.new
    around = left.old[-_FARTHEST:] + text + right.old[:_FARTHEST]
    start = min(len(left.old), _FARTHEST)
    floor = 1 if len(left.old) > _FARTHEST else 0
    first = last = start
    while first > floor and around[first - 1] == around[first - 1 + len(text)]:
        first -= 1
    while last + len(text) < len(around) and around[last] == around[last + len(text)]:
        last += 1
    begin = max(range(first, last + 1), key=lambda at: (_begins(around, at, len(text)), -abs(at - start)))
    before = left.old[: len(left.old) - start] + around[:begin]
    after = around[begin + len(text) :] + right.old[_FARTHEST:]
    text = around[begin : begin + len(text)]
    return [
        PhrasePart(before, before),
        PhrasePart(text, "") if part.old else PhrasePart("", text),
        PhrasePart(after, after),
    ]


def _begins(text: str, at: int, length: int) -> int:
    """Return how well an addition reads that begins at this place; more is better."""
    before = text[max(at - 2, 0) : at]
    if within_word(text, at) or within_word(text, at + length):
        return 0
    if not before or before.endswith("\n"):
        return 5
    if text[at : at + 1] == "\n":
        return 4
    if before in _ENDS or before[-1] + text[at : at + 1] in _ENDS:
        return 3
    return 2 if before.endswith(" ") else 1
