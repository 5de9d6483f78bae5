"""A diff as it is shown, to a program (`as_json`) or to a person at a terminal (`rendering`).

Whatever the diff contains, there is an end to what is shown of it (`fitting` cuts and escapes), and what was left out
is said.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from mcpguard.inspection.diff.changed_words import Fate, WordDiff, WordSpan
from mcpguard.inspection.diff.changes import ChangeKind, Diff, ValueChange
from mcpguard.inspection.diff.clipping import fitted, left_out, not_there_before, pointer, written

MOST_SHOWN: Final = 1500
"""Characters of a value; or of all that was added in a string, and of all that was removed."""
_ALTOGETHER: Final = 60_000
_LEAST: Final = 80
"""Of a value that comes when everything else has been said already."""
_CONTEXT: Final = 120
"""Characters of what was kept beside what was not."""
_MOST_SPANS: Final = 120
_MOST_NAMED: Final = 6
"""Characters that were not there before."""


@dataclass(frozen=True, slots=True)
class ShownSpan:
    """A part of a string that was compared by words."""

    fate: Fate
    text: str


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A change with everything in it fit to be read; strings by `words`, everything else by `before` and `after`."""

    kind: ChangeKind
    path: str
    was_at: str | None
    before: str | None
    after: str | None
    words: tuple[ShownSpan, ...] | None
    new_characters: tuple[str, ...]
    more_new_characters: int
    notes: tuple[str, ...]


def shown(diff: Diff) -> Iterator[ShownChange]:
    """Every change; the later ones shorter, if much has been said already."""
    left = _ALTOGETHER
    for change in diff.changes:
        most = max(min(MOST_SHOWN, left), _LEAST)
        found = _shown(change, most)
        left -= sum(len(text) for text in (found.before, found.after) if text)
        left -= sum(len(span.text) for span in found.words or ())
        yield found


def as_json(diff: Diff) -> dict[str, object]:
    """Objects, lists, strings and numbers that are encodable, whatever the definitions contain."""
    return {
        "changes": [asdict(change) for change in shown(diff)],
        "complete": diff.complete,
        "left_out": list(what_was_left_out(diff)),
    }


def _shown(change: ValueChange, most: int) -> ShownChange:
    path = change.old_path if change.new_path is None else change.new_path
    moved = change.kind is ChangeKind.CHANGED and change.old_path != change.new_path
    before = None if change.kind is ChangeKind.ADDED else written(change.before)
    after = None if change.kind is ChangeKind.REMOVED else written(change.after)
    named, unnamed = not_there_before(before or "", after or "", _MOST_NAMED)
    by_words = change.words if change.words and _readable(change.words) else None
    return ShownChange(
        change.kind,
        pointer(path or ()),
        pointer(change.old_path) if moved and change.old_path is not None else None,
        None if by_words or before is None else fitted(before, most),
        None if by_words or after is None else fitted(after, most),
        tuple(_spans(by_words.spans, most)) if by_words else None,
        named,
        unnamed,
        tuple(_notes(change)),
    )


def _readable(words: WordDiff) -> bool:
    """Whether enough was kept that it helps to see the old and the new in one."""
    size = dict.fromkeys(Fate, 0)
    for fate, text in words.spans:
        size[fate] += len(text)
    return 3 * size[Fate.KEPT] >= min(size[Fate.REMOVED], size[Fate.ADDED])


def _spans(spans: tuple[WordSpan, ...], most: int) -> Iterator[ShownSpan]:
    left = {Fate.REMOVED: most, Fate.ADDED: most}
    for at, (fate, text) in enumerate(spans):
        if at >= _MOST_SPANS or max(left.values()) <= 0:
            rest = sum(len(span.text) for span in spans[at:])
            yield ShownSpan(Fate.KEPT, left_out(rest) + ("⟨the difference goes on⟩" if at < len(spans) - 1 else ""))
            return
        if fate is Fate.KEPT:
            yield ShownSpan(fate, _context(text, first=at == 0, last=at == len(spans) - 1))
        else:
            yield ShownSpan(fate, fitted(text, max(left[fate], _LEAST)))
            left[fate] -= len(text)


def _context(text: str, *, first: bool, last: bool) -> str:
    """The kept text beside what was not kept, from a space to a space if there is one near."""
    head = "" if first else text[:_CONTEXT]
    tail = "" if last else text[len(head) :][-_CONTEXT:]
    if len(text) - len(head) - len(tail) <= 2 * _CONTEXT:
        return fitted(text, len(text))
    head = head[: head.rfind(" ") + 1 or None]
    tail = tail[tail.find(" ") + 1 :]
    skipped = f"⟨…, {len(text) - len(head) - len(tail)} characters as before⟩"
    return fitted(head, _CONTEXT) + skipped + fitted(tail, _CONTEXT)


def _notes(change: ValueChange) -> Iterator[str]:
    if isinstance(change.before, list) and isinstance(change.after, list):
        yield "the same elements in another order"
    if change.words and change.words.coarse:
        yield "too long, or too different, to be compared word by word throughout"


def what_was_left_out(diff: Diff) -> Iterator[str]:
    """In sentences."""
    left = diff.left_out
    if left.changes:
        yield f"{len(diff.changes)} changes are shown; there are at least {left.changes} more"
    yield from (f"not compared: {pointer(place) or 'the whole'}" for place in left.places)
    if left.more_places:
        yield f"not compared: {left.more_places} more places"
