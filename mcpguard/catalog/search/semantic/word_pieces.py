"""Splits text into the word pieces that the sentence model was trained with: those of BERT, uncased.

`word_pieces.txt` is the vocabulary that Google published with BERT (Apache-2.0); the line of a piece is its number.

Rules kept here:
1. Whatever the text, the result has at most `limit` numbers. At most `CHARACTERS` of it are read for each, so that the
   time is bounded as well, and linear in what is read.
2. A word is split greedily, by the longest piece that fits. A word that cannot be split, or is longer than
   `LONGEST_WORD`, is one unknown piece.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

CHARACTERS: Final = 12
"""Characters that are read for each number that may result: more than twice what a piece has on average."""
LONGEST_WORD: Final = 100
UNKNOWN: Final = 100
START: Final = 101
END: Final = 102
_LONGEST_PIECE: Final = 18
_DROPPED: Final = frozenset({"Mn", "Cc", "Cf", "Co"})
"""Accents, and what cannot be seen."""
_HAN: Final = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


def word_pieces(text: str, limit: int) -> list[int]:
    """Return the numbers of a text's pieces, between those for its start and its end."""
    pieces = [START]
    for word in _plain(text[: limit * CHARACTERS]).split():
        pieces += _pieces(word)
        if len(pieces) >= limit:
            break
    return [*pieces[: limit - 1], END]


def _plain(text: str) -> str:
    """Return a text in lower case and without accents, with blanks around each mark and each Han character."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(map(_spaced, decomposed))


@lru_cache(8192)
def _spaced(char: str) -> str:
    category = unicodedata.category(char)
    if char.isspace():
        return " "
    if category in _DROPPED or char == "\ufffd":
        return ""
    if category.startswith("P") or (char.isascii() and not char.isalnum()) or _is_han(char):
        return f" {char} "
    return char


def _is_han(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in _HAN)


@lru_cache(16_384)
def _pieces(word: str) -> tuple[int, ...]:
    return (UNKNOWN,) if len(word) > LONGEST_WORD else tuple(_split(word)) or (UNKNOWN,)


def _split(word: str) -> list[int]:
    """Return the numbers of a word's pieces; none if it cannot be split."""
    numbers: list[int] = []
    at = 0
    while at < len(word):
        number, at = next(_fitting(word, at), (UNKNOWN, 0))
        if number == UNKNOWN:
            return []
        numbers.append(number)
    return numbers


def _fitting(word: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the pieces that fit at a place of a word, the longest first, each with its end."""
    known = _vocabulary()
    mark = "##" if start else ""
    for end in range(min(len(word), start + _LONGEST_PIECE), start, -1):
        number = known.get(mark + word[start:end])
        if number is not None:
            yield number, end


@cache
def _vocabulary() -> Mapping[str, int]:
    text = files(__package__).joinpath("word_pieces.txt").read_text("utf-8")
    return {piece: number for number, piece in enumerate(text.split("\n"))}
