"""Splits text into pieces that are compared as a whole: first sentences, then words.

The pieces, joined, are the text. A hidden character is a separate piece and never part of a word, and so is a line
break. A combining mark belongs to the word of its letter.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from mcpguard.text.visible import hides

_SENTENCE: Final = re.compile(r"[^\n.!?]*+(?:\n|[.!?]++[ \t]*+|\Z)")
_PIECE: Final = re.compile(r"w+|s+|.")


class _Classes(dict[int, str]):
    """A translation to a letter for each kind of character: w in words, s space, h hidden, n line break, p other."""

    def __missing__(self, code: int) -> str:
        self[code] = _class(chr(code))
        return self[code]


@lru_cache(maxsize=4096)
def _class(char: str) -> str:
    if char == "\n":
        return "n"
    if hides(char):
        return "h"
    if char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M":
        return "w"
    return "s" if char.isspace() else "p"


class _Unhidden(dict[int, str]):
    """A translation that removes hidden characters."""

    def __missing__(self, code: int) -> str:
        self[code] = "" if _class(chr(code)) == "h" else chr(code)
        return self[code]


def breaks(text: str) -> int:
    """Return how many sentences end in the text at most."""
    return sum(map(text.count, "\n.!?"))


def sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.findall(text) if sentence]


def pieces(text: str) -> list[str]:
    """Return words, runs of spaces, and single characters of every other kind."""
    return [text[match.start() : match.end()] for match in _PIECE.finditer(classes(text))]


def classes(text: str) -> str:
    return text.translate(_Classes())


def within_word(text: str, at: int) -> bool:
    """Tell whether a word goes on across this place."""
    return 0 < at < len(text) and _class(text[at - 1]) == _class(text[at]) == "w"


def without_hidden(text: str) -> str:
    return text.translate(_Unhidden())
