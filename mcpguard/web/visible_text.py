"""Splits untrusted text into pieces for a page: plain text, hidden characters, and places of findings.

Rules kept here:
1. Nothing is left out: the pieces of plain text and the hidden characters between them are the whole text.
2. A character that would be invisible becomes a label; a run of the same character becomes one label with its length.
3. Where findings overlap, the first of them marks the place; all of them are named where they end.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from mcpguard.text.visible import hides

SHORT: Final = {
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u2060": "WJ",
    "\ufeff": "BOM",
    "\u00ad": "SHY",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\u001b": "ESC",
    "\u0000": "NUL",
    "\r": "CR",
    "\u2028": "LS",
    "\u2029": "PS",
}
"""Short names of the most frequent hidden characters."""
_SEEN: Final = frozenset("\n\t")
"""Control characters that a page displays as they are."""
_TAGS: Final = range(0xE0020, 0xE007F)
"""Invisible characters that spell ASCII text."""


@dataclass(frozen=True, slots=True)
class FindingMark:
    """The place of a finding: from the character at `start` to the one before `end`."""

    start: int
    end: int
    number: int
    severity: str


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a text. `hidden`: it is the label of hidden characters; `severity`: of the finding that marks it.

    `ends`: the findings whose place ends with this piece, each with its number and severity.
    """

    text: str
    hidden: bool = False
    title: str = ""
    severity: str = ""
    number: int = 0
    ends: tuple[tuple[int, str], ...] = ()


class HiddenCharacters(NamedTuple):
    """How many hidden characters a text has, and the ASCII text that tag characters in it spell."""

    number: int
    spelt: str


def hidden_characters(text: str) -> HiddenCharacters:
    """Return what a reader would not see of a text."""
    hidden = [char for char in text if char not in _SEEN and hides(char)]
    return HiddenCharacters(len(hidden), "".join(chr(ord(char) - 0xE0000) for char in hidden if ord(char) in _TAGS))


def plain_text(text: str) -> str:
    """Return a text without its hidden characters."""
    return "".join(char for char in text if char in _SEEN or not hides(char))


def pieces(text: str, marks: Sequence[FindingMark] = ()) -> Iterator[TextPiece]:
    """Cut a text into pieces."""
    inside = [mark for mark in marks if 0 <= mark.start < mark.end <= len(text)]
    bounds = sorted({0, len(text), *(mark.start for mark in inside), *(mark.end for mark in inside)})
    for start, end in pairwise(bounds):
        over = next((mark for mark in inside if mark.start <= start and end <= mark.end), None)
        ends = tuple((mark.number, mark.severity) for mark in inside if mark.end == end)
        parts = list(_parts(text[start:end], over))
        yield from parts[:-1]
        last = parts[-1]
        yield TextPiece(last.text, last.hidden, last.title, last.severity, last.number, ends)


def _parts(text: str, over: FindingMark | None) -> Iterator[TextPiece]:
    severity, number = (over.severity, over.number) if over else ("", 0)
    for kind, run in groupby(text, _kind):
        said = "".join(run)
        if not kind:
            yield TextPiece(said, severity=severity, number=number)
        elif kind == "TAG":
            spelt = "".join(chr(ord(char) - 0xE0000) for char in said)
            yield TextPiece(f"TAG ×{len(said)}", True, f"{len(said)} tag characters")  # noqa: RUF001 - a multiplication sign
            yield TextPiece(f"⟨{spelt}⟩", severity=severity, number=number)
        else:
            times = f" ×{len(said)}" if len(said) > 1 else ""  # noqa: RUF001
            yield TextPiece(
                f"{kind}{times}",
                True,
                f"{unicodedata.name(said[0], 'a character without a name')}, U+{ord(said[0]):04X}",
            )


def _kind(char: str) -> str:
    """Return the label of a hidden character; empty for a visible one."""
    if char in _SEEN or not hides(char):
        return ""
    return "TAG" if ord(char) in _TAGS else SHORT.get(char) or f"U+{ord(char):04X}"
