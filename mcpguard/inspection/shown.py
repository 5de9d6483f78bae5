"""A diff as it is shown: to a person at a terminal (`rendered`), or to a program (`as_json`).

Whatever the diff contains, there is an end to what is shown of it (`fitting` cuts and escapes), and what was left out
is said. Both forms are made from the same `ShownChange`s.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from mcpguard.inspection.diff import Change, Diff, Kind
from mcpguard.inspection.fitting import fitted, left_out, not_there_before, pointer, written
from mcpguard.inspection.words import Fate, Span, Words

MOST_SHOWN: Final = 1500
"""Characters of a value, or of all that was added and removed in a string."""
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

    kind: Kind
    path: str
    was_at: str | None
    before: str | None
    after: str | None
    words: tuple[ShownSpan, ...] | None
    new_characters: tuple[str, ...]
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
        "left_out": list(_left_out(diff)),
    }


def _shown(change: Change, most: int) -> ShownChange:
    path = change.old_path if change.new_path is None else change.new_path
    moved = change.kind is Kind.CHANGED and change.old_path != change.new_path
    before = None if change.kind is Kind.ADDED else written(change.before)
    after = None if change.kind is Kind.REMOVED else written(change.after)
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
        tuple(_notes(change, unnamed)),
    )


def _readable(words: Words) -> bool:
    """Whether enough was kept that it helps to see the old and the new in one."""
    size = dict.fromkeys(Fate, 0)
    for fate, text in words.spans:
        size[fate] += len(text)
    return 3 * size[Fate.KEPT] >= min(size[Fate.REMOVED], size[Fate.ADDED])


def _spans(spans: tuple[Span, ...], most: int) -> Iterator[ShownSpan]:
    left = most
    for at, (fate, text) in enumerate(spans):
        if at >= _MOST_SPANS or left <= 0:
            rest = sum(len(span.text) for span in spans[at:])
            yield ShownSpan(Fate.KEPT, left_out(rest))
            return
        if fate is Fate.KEPT:
            yield ShownSpan(fate, _context(text, first=at == 0, last=at == len(spans) - 1))
        else:
            yield ShownSpan(fate, fitted(text, left))
            left -= len(text)


def _context(text: str, *, first: bool, last: bool) -> str:
    """The kept text beside what was not kept."""
    head = text[: 0 if first else _CONTEXT]
    tail = text[len(head) :][-_CONTEXT:] if not last else ""
    between = len(text) - len(head) - len(tail)
    if between <= _CONTEXT // 2:
        return fitted(text, len(text))
    skipped = f"⟨{between} characters as before⟩"
    return fitted(head, _CONTEXT) + skipped + fitted(tail, _CONTEXT)


def _notes(change: Change, unnamed: int) -> Iterator[str]:
    if unnamed:
        yield f"{unnamed} more characters that were not there before"
    if isinstance(change.before, list) and isinstance(change.after, list):
        yield "the same elements in another order"
    if change.words and change.words.coarse:
        yield "too long, or too different, to be compared word by word throughout"


def _left_out(diff: Diff) -> Iterator[str]:
    left = diff.left_out
    if left.changes:
        yield f"{len(diff.changes)} changes are shown; there are at least {left.changes} more"
    yield from (f"not compared: {pointer(place) or 'the whole'}" for place in left.places)
    if left.more_places:
        yield f"not compared: {left.more_places} more places"


def rendered(diff: Diff) -> list[str]:
    """Lines for a terminal. Foreign text stands only behind a marker or in the indented line of a string."""
    lines = [line for change in shown(diff) for line in _lines(change)]
    return [*lines, *(f"⟨{said}⟩" for said in _left_out(diff))]


_MARKERS: Final = {Kind.ADDED: "+", Kind.REMOVED: "-", Kind.CHANGED: "~"}


def _lines(change: ShownChange) -> Iterator[str]:
    was_at = f" ⟨was at {change.was_at}⟩" if change.was_at else ""
    yield f"{_MARKERS[change.kind]} {change.path or '⟨the whole⟩'}{was_at}"
    if change.words is not None:
        yield from (f"    {line}" for line in "".join(map(_inline, change.words)).split("\n"))
    for marker, text in (("-", change.before), ("+", change.after)):
        if text is not None:
            yield from (f"    {marker} {line}" for line in text.split("\n"))
    if change.new_characters:
        yield f"    ⟨not there before: {', '.join(change.new_characters)}⟩"
    yield from (f"    ⟨{note}⟩" for note in change.notes)


def _inline(span: ShownSpan) -> str:
    """Between markers; what looks like one in foreign text gets a backslash."""
    text = span.text
    for looks in ("[-", "-]", "{+", "+}"):
        text = text.replace(looks, f"{looks[0]}\\{looks[1]}")
    match span.fate:
        case Fate.KEPT:
            return text
        case Fate.REMOVED:
            return f"[-{_inside(text, '[]')}-]"
        case Fate.ADDED:
            return f"{{+{_inside(text, '{}')}+}}"


def _inside(text: str, brackets: str) -> str:
    """Without a bracket that would make a marker with the mark beside it."""
    if text.endswith(brackets[0]):
        text += "\\"
    return "\\" + text if text.startswith(brackets[1]) else text
