"""The texts in which a secret may be: the strings of a value, and what is encoded in them.

Rules kept here:
1. Strings are searched decoded, not as written in JSON, each after its member name. An item of a list follows only the
   end of the list's name, so that a long name before many items costs no time.
2. Base64, percent-encoding and JSON escapes are decoded, also one inside the other, up to `MOST_LAYERS`. No layer is
   larger than `MOST_TIMES` the first, so that the time is proportional to the arguments. What is cut off was already
   decoded by an earlier layer; base64 comes first, so that nothing displaces it.
3. Every place in a layer can be traced back to its origin in the first text.
"""

import binascii
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from mcpguard.text.linear import compile_pattern

MOST_LAYERS: Final = 3
MOST_TIMES: Final = 3
LONGEST_REPEATED: Final = 64
"""The end of a list's name that precedes its items. No rule searches further back for the name of a service."""
_SHORTEST_NAMED: Final = 8
"""No secret that is recognised by its name is shorter."""
_BASE64: Final = "[A-Za-z0-9+/_-]{24,}"
ESCAPED: Final = r'%[0-9A-Fa-f]{2}|\\[nrt"]'
ESCAPED_IN_JSON: Final = r'%[0-9A-Fa-f]{2}|\\\\[nrt"\\]'
ENCODED: Final = f"{_BASE64}|{ESCAPED}"
"""Whatever matches this may be decoded: a text without it has no other layers."""
ENCODED_IN_JSON: Final = f"{_BASE64}|{ESCAPED_IN_JSON}"
"""What `ENCODED` matches in a string or at its end, as it is written in JSON, where a backslash is doubled."""
RUN: Final = compile_pattern(f"{_BASE64}={{0,2}}")
"""What is decoded as base64."""
_ESCAPE: Final = compile_pattern(r'\\[nrt"]|%[0-9A-Fa-f]{2}')
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_ESCAPES: Final = ((b"\\n", b"\n"), (b"\\r", b"\n"), (b"\\t", b"\n"), (b'\\"', b'"'))
Span = tuple[int, int]


class LayerPiece(NamedTuple):
    """A name, a text, or both. `skipped`: leading characters of the name that were part of an earlier piece."""

    name: str
    skipped: int
    text: str | None
    listed: bool = False
    """Whether the name is that of the list that contains this piece."""

    @property
    def as_text(self) -> str:
        """The piece as it stands in the text of the value."""
        return self.name[self.skipped :] if self.text is None else f'{self.name[self.skipped :]}="{self.text}"'


class LayerPart(NamedTuple):
    """A decoded part of the text below. `run`: one encoded run, of which no smaller place can be traced back; otherwise
    the whole text with one byte for each escape."""

    plain: bytes
    source: Span
    run: bool


class TextLayer:
    """One text, and the places in the text below from which it was decoded."""

    def __init__(self, text: bytes, below: "TextLayer | None" = None, parts: tuple[LayerPart, ...] = ()) -> None:
        self.text = text
        self._below = below
        self._parts = parts
        self._starts: list[int] | None = None
        self._shrunk: list[int] | None = None

    def origins(self, span: Span) -> Iterator[Span]:
        """Yield the places in the first text that this span was decoded from."""
        if self._below is None:
            yield span
            return
        for each in self._sources(span):
            yield from self._below.origins(each)

    def _sources(self, span: Span) -> Iterator[Span]:
        starts = self._begin()
        for number in range(max(bisect_left(starts, span[0] + 1) - 1, 0), len(self._parts)):
            part, begin = self._parts[number], starts[number]
            if begin >= span[1]:
                return
            start, end = max(span[0] - begin, 0), min(span[1] - begin, len(part.plain))
            if start >= end:
                continue
            if part.run:
                yield part.source
            else:
                shrunk = self._escapes()
                yield start + _gone(shrunk, start), end + _gone(shrunk, end)

    def _begin(self) -> list[int]:
        if self._starts is None:
            self._starts, at = [], 0
            for part in self._parts:
                self._starts.append(at)
                at += len(part.plain) + 1
        return self._starts

    def _escapes(self) -> list[int]:
        """Return, for each byte that decoding removed, its position in the text with one byte for each escape."""
        if self._shrunk is None:
            self._shrunk, gone = [], 0
            for found in _ESCAPE.finditer(self._below.text) if self._below else ():
                fewer = len(found[0]) - 1
                self._shrunk.extend([found.span()[0] - gone] * fewer)
                gone += fewer
        return self._shrunk


def layers(value: object) -> Iterator[TextLayer]:
    """Yield the text of a value, and the texts that are encoded in it."""
    layer = TextLayer(text_of_value(value))
    most = MOST_TIMES * len(layer.text)
    yield layer
    for _ in range(MOST_LAYERS):
        parts = tuple(_decoded(layer.text))
        inner = b"\n".join(part.plain for part in parts)[:most]
        if not inner:
            return
        layer = TextLayer(inner, layer, parts)
        yield layer


def text_of_value(value: object) -> bytes:
    """Return all names and texts in a value."""
    lines = list[str]()
    _write("", value, lines, listed=False)
    return "\n".join(lines).encode(errors="replace")


def _write(name: str, value: object, lines: list[str], *, listed: bool) -> None:
    """Write what `pieces` yields as text, at a third of its cost: every call is searched."""
    if isinstance(value, str):
        shown = "" if listed and len(value) < _SHORTEST_NAMED else name
        lines.append(f'{shown}="{value}"')
    elif isinstance(value, dict):
        if name and not listed:
            lines.append(name)
        for key, each in value.items():
            _write(key, each, lines, listed=False)
    else:
        if not listed:
            lines.append(name)
        end = name[-LONGEST_REPEATED:]
        for each in value if isinstance(value, list) else ():
            if isinstance(each, str | list | dict):
                _write(end, each, lines, listed=True)


def pieces(value: object) -> Iterator[LayerPiece]:
    """Yield all names and texts in a value, in the order in which they are written."""
    waiting: list[tuple[LayerPiece, object]] = [(LayerPiece("", 0, None), value)]
    while waiting:
        piece, each = waiting.pop()
        if isinstance(each, str):
            short = piece.listed and len(each) < _SHORTEST_NAMED
            yield LayerPiece(piece.name, len(piece.name) if short else piece.skipped, each)
        elif isinstance(each, dict):
            if piece.name and not piece.listed:
                yield piece
            waiting.extend((LayerPiece(key, 0, None), inner) for key, inner in reversed(each.items()))
        elif isinstance(each, list):
            if not piece.listed:
                yield piece
            before = LayerPiece(piece.name, max(len(piece.name) - LONGEST_REPEATED, 0), None, listed=True)
            waiting.extend((before, one) for one in reversed(each) if isinstance(one, str | list | dict))
        elif not piece.listed:
            yield piece


def _gone(places: list[int], offset: int) -> int:
    return bisect_left(places, offset)


def _decoded(text: bytes) -> Iterator[LayerPart]:
    for found in RUN.finditer(text):
        yield LayerPart(_from_base64(found[0]), found.span(), run=True)
    plain = text
    if b"\\" in text:
        for escape, meant in _ESCAPES:
            plain = plain.replace(escape, meant)
    plain = unquote_to_bytes(plain)
    if plain != text:
        yield LayerPart(plain, (0, len(text)), run=False)


def _from_base64(run: bytes) -> bytes:
    """Return the decoded base64; a surplus character at the end belongs to something else."""
    run = run.rstrip(b"=")
    whole = run[: len(run) - (len(run) % 4 == 1)].translate(_STANDARD)
    return binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))
