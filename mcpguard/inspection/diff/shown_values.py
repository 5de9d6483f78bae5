"""Renders a diff for a program (`as_json`) or for a person at a terminal (`render_lines`).

Rules kept here:
1. Whatever the diff contains, the output is bounded (`clipping` cuts and escapes) and states what was left out.
2. In terminal lines, `-` and `+` precede what was removed and added, and `~` precedes a change. The lines of a string
   begin with `|` and contain [-removed-]{+added+}. There are no colours.
3. Untrusted text never begins a line and cannot imitate a marker: a backslash breaks it up. Text in ⟨brackets⟩ comes
   from mcpguard.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from mcpguard.inspection.diff.changed_words import Fate, WordDiff, WordSpan
from mcpguard.inspection.diff.changes import ChangeKind, Diff, ValueChange
from mcpguard.inspection.diff.clipping import clip, json_pointer, new_characters, omission, value_as_text

MOST_SHOWN: Final = 1500
"""Characters that are shown of a value; or of all that was added to a string, and of all that was removed."""
_ALTOGETHER: Final = 60_000
_LEAST: Final = 80
"""Characters that are shown of a value after the limit for all of them is used up."""
_CONTEXT: Final = 120
"""Characters of kept text that are shown beside a change."""
_MOST_SPANS: Final = 120
_MARKERS: Final = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-", ChangeKind.CHANGED: "~"}
_MOST_NAMED: Final = 6
"""How many new characters are named."""


@dataclass(frozen=True, slots=True)
class ShownSpan:
    """A part of a string that was compared by words, fit to be read."""

    fate: Fate
    text: str


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A change, fit to be read: strings have `words`, everything else has `before` and `after`."""

    kind: ChangeKind
    path: str
    was_at: str | None
    before: str | None
    after: str | None
    words: tuple[ShownSpan, ...] | None
    new_characters: tuple[str, ...]
    more_new_characters: int
    notes: tuple[str, ...]


def shown_changes(diff: Diff) -> Iterator[ShownChange]:
    """Yield every change; later ones are shorter if much was shown before."""
    left = _ALTOGETHER
    for change in diff.changes:
        most = max(min(MOST_SHOWN, left), _LEAST)
        shown_change = _shown(change, most)
        left -= sum(len(text) for text in (shown_change.before, shown_change.after) if text)
        left -= sum(len(span.text) for span in shown_change.words or ())
        yield shown_change


def as_json(diff: Diff) -> dict[str, object]:
    """Return the diff as JSON that can be encoded, whatever the definitions contain."""
    return {
        "changes": [asdict(change) for change in shown_changes(diff)],
        "complete": diff.complete,
        "left_out": list(omissions(diff)),
    }


def _shown(change: ValueChange, most: int) -> ShownChange:
    path = change.old_path if change.new_path is None else change.new_path
    moved = change.kind is ChangeKind.CHANGED and change.old_path != change.new_path
    before = None if change.kind is ChangeKind.ADDED else value_as_text(change.before)
    after = None if change.kind is ChangeKind.REMOVED else value_as_text(change.after)
    named, unnamed = new_characters(before or "", after or "", _MOST_NAMED)
    by_words = change.words if change.words and _readable(change.words) else None
    return ShownChange(
        change.kind,
        json_pointer(path or ()),
        json_pointer(change.old_path) if moved and change.old_path is not None else None,
        None if by_words or before is None else clip(before, most),
        None if by_words or after is None else clip(after, most),
        tuple(_spans(by_words.spans, most)) if by_words else None,
        named,
        unnamed,
        tuple(_notes(change)),
    )


def _readable(words: WordDiff) -> bool:
    """Tell whether enough was kept that it helps to show the old and the new text in one."""
    size = dict.fromkeys(Fate, 0)
    for fate, text in words.spans:
        size[fate] += len(text)
    return 3 * size[Fate.KEPT] >= min(size[Fate.REMOVED], size[Fate.ADDED])


def _spans(spans: tuple[WordSpan, ...], most: int) -> Iterator[ShownSpan]:
    left = {Fate.REMOVED: most, Fate.ADDED: most}
    for at, (fate, text) in enumerate(spans):
        if at >= _MOST_SPANS or max(left.values()) <= 0:
            rest = sum(len(span.text) for span in spans[at:])
            yield ShownSpan(Fate.KEPT, omission(rest) + ("⟨the difference goes on⟩" if at < len(spans) - 1 else ""))
            return
        if fate is Fate.KEPT:
            yield ShownSpan(fate, _context(text, first=at == 0, last=at == len(spans) - 1))
        else:
            yield ShownSpan(fate, clip(text, max(left[fate], _LEAST)))
            left[fate] -= len(text)


def _context(text: str, *, first: bool, last: bool) -> str:
    """Return the kept text beside a change, from a space to a space if there is one near."""
    head = "" if first else text[:_CONTEXT]
    tail = "" if last else text[len(head) :][-_CONTEXT:]
    if len(text) - len(head) - len(tail) <= 2 * _CONTEXT:
        return clip(text, len(text))
    head = head[: head.rfind(" ") + 1 or None]
    tail = tail[tail.find(" ") + 1 :]
    skipped = f"⟨…, {len(text) - len(head) - len(tail)} characters as before⟩"
    return clip(head, _CONTEXT) + skipped + clip(tail, _CONTEXT)


def _notes(change: ValueChange) -> Iterator[str]:
    if isinstance(change.before, list) and isinstance(change.after, list):
        yield "the same elements in another order"
    if change.words and change.words.coarse:
        yield "too long, or too different, to be compared word by word throughout"


def omissions(diff: Diff) -> Iterator[str]:
    """Yield a sentence for each thing that the diff leaves out."""
    left = diff.left_out
    if left.changes:
        yield f"{len(diff.changes)} changes are shown; there are at least {left.changes} more"
    yield from (f"not compared: {json_pointer(place) or 'the whole'}" for place in left.places)
    if left.more_places:
        yield f"not compared: {left.more_places} more places"


def render_lines(diff: Diff) -> list[str]:
    """Return the diff as lines for a terminal; none if there is no difference."""
    lines = [line for change in shown_changes(diff) for line in _lines(change)]
    return [*lines, *(f"⟨{sentence}⟩" for sentence in omissions(diff))]


def _lines(change: ShownChange) -> Iterator[str]:
    was_at = f" ⟨was at {change.was_at}⟩" if change.was_at else ""
    yield f"{_MARKERS[change.kind]} {change.path or '⟨the whole⟩'}{was_at}"
    if change.words is not None:
        yield from (f"    | {line}" for line in "".join(map(_inline, change.words)).split("\n"))
    for marker, text in (("-", change.before), ("+", change.after)):
        if text is not None:
            yield from (f"    {marker} {line}" for line in text.split("\n"))
    if change.new_characters:
        more = f", and {change.more_new_characters} more" if change.more_new_characters else ""
        yield f"    ⟨new characters: {', '.join(change.new_characters)}{more}⟩"
    yield from (f"    ⟨{note}⟩" for note in change.notes)


def _inline(span: ShownSpan) -> str:
    """Return a span between its markers; a backslash breaks up what looks like one in foreign text."""
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
    """Return the text so that no bracket at its edges makes a marker with the sign beside it."""
    if text.endswith(brackets[0]):
        text += "\\"
    return "\\" + text if text.startswith(brackets[1]) else text
