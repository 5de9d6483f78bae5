"""Decodes a text: encoded runs (`codes`), percent-encoding, entities, shifted alphabets, and reversed letters.

Rule kept here: the work is bounded by the number of layers, their depth, and the characters in them.
"""

import html
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from mcpguard.inspection.reading.codes import runs_in
from mcpguard.inspection.texts.texts import Text

MOST_LAYERS: Final = 12
"""Layers that one text decodes to."""
MOST_DEEP: Final = 3
MOST_DECODED: Final = 12_000
_LEAST: Final = 6
_TELLTALE: Final = """
    this that tool user file with your send read from ignore previous instructions before must system always never
    contents password secret execute command without telling
"""


def _turned(word: str, by: int) -> str:
    return "".join(chr((ord(char) - 97 + by) % 26 + 97) for char in word)


_ALPHABETS: Final = {_turned(word, by): 26 - by for word in _TELLTALE.split() for by in range(1, 26)} | {
    word[::-1]: 0 for word in _TELLTALE.split()
}
"""Common words in each shifted alphabet, with how far to shift it back; 0 for a reversed word."""


def layers(text: Text) -> Iterator[Text]:
    """Yield every text that this one decodes to, also in several steps."""
    left, size = [(text, 0)], 0
    for at in range(MOST_LAYERS):
        if at >= len(left) or left[at][1] >= MOST_DEEP:
            return
        outer, depth = left[at]
        for start, end, layer, plain in _decoded(outer):
            size += len(plain)
            if len(left) > MOST_LAYERS or size > MOST_DECODED:
                return
            inner = Text(text.path, plain, layer=layer, source=outer.evidence_at(start, end))
            left.append((inner, depth + 1))
            yield inner


def _decoded(text: Text) -> Iterator[tuple[int, int, str, str]]:
    raw = text.raw
    if len(raw) < _LEAST:
        return
    for code, run, offset in runs_in(raw):
        plain = code.decode(run[0])
        if plain and plain != run[0]:
            yield run.start() + offset, run.end() + offset, code.name, plain
    for layer, plain in _whole(text):
        if plain != raw:
            yield 0, len(raw), layer, plain


def _whole(text: Text) -> Iterator[tuple[str, str]]:
    if text.raw.count("%") >= 3:
        yield "percent", unquote(text.raw, errors="ignore")
    if "&" in text.raw:
        yield "entities", html.unescape(text.raw)
    if _ALPHABETS.keys().isdisjoint(text.tokens.words):
        return
    telltales: dict[int, set[str]] = {}
    for word in sorted(_ALPHABETS.keys() & frozenset(text.tokens.words)):
        telltales.setdefault(_ALPHABETS[word], set()).add(word)
    for by, telltale in telltales.items():
        if len(telltale) >= 2:
            yield ("shifted alphabet", _shifted(text.raw, by)) if by else ("reverse", text.raw[::-1])


def _shifted(text: str, by: int) -> str:
    small = "abcdefghijklmnopqrstuvwxyz"
    turned = small[by:] + small[:by]
    return text.translate(str.maketrans(small + small.upper(), turned + turned.upper()))
