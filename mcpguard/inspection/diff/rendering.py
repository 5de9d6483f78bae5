"""A diff as lines for a terminal, without colours: `-` and `+` before what was removed and added, `~` before a change,
and [-removed-]{+added+} within a string, whose lines begin with `|`.

Foreign text never begins a line, and it cannot look like a marker: where it would, a backslash stands in it. What is
said in ⟨brackets⟩ is said by us.
"""

from collections.abc import Iterator
from typing import Final

from mcpguard.inspection.diff.changed_words import Fate
from mcpguard.inspection.diff.changes import ChangeKind, Diff
from mcpguard.inspection.diff.shown_values import ShownChange, ShownSpan, shown, what_was_left_out

_MARKERS: Final = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-", ChangeKind.CHANGED: "~"}


def rendered(diff: Diff) -> list[str]:
    """The lines; none at all if there is no difference."""
    lines = [line for change in shown(diff) for line in _lines(change)]
    return [*lines, *(f"⟨{said}⟩" for said in what_was_left_out(diff))]


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
        yield f"    ⟨not there before: {', '.join(change.new_characters)}{more}⟩"
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
