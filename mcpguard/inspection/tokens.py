"""Text in pieces that are compared whole: sentences first, then words.

Joined, the pieces are the text. A hidden character is a piece of its own and never part of a word; so is a line break.
Marks that combine with a letter belong to its word.
"""

import re
import unicodedata
from typing import Final

from mcpguard.text.visible import hides

_SENTENCE: Final = re.compile(r"[^\n.!?]*+(?:\n|[.!?]++[ \t]*+|\Z)")
_PIECE: Final = re.compile(r"w+|s+|.")


class _Classes(dict[int, str]):
    """A letter for each character: w in words, s between them, h hidden, n a line break, p any other."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char == "\n":
            found = "n"
        elif hides(char):
            found = "h"
        elif char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M":
            found = "w"
        else:
            found = "s" if char.isspace() else "p"
        self[code] = found
        return found


def sentences(text: str) -> list[str]:
    return [found for found in _SENTENCE.findall(text) if found]


def pieces(text: str) -> list[str]:
    """Words, runs of spaces, and single characters of every other kind."""
    return [text[found.start() : found.end()] for found in _PIECE.finditer(classes(text))]


def classes(text: str) -> str:
    return text.translate(_Classes())


def within_word(text: str, at: int) -> bool:
    """Whether a word goes on across this place."""
    return 0 < at < len(text) and classes(text[at - 1 : at + 1]) == "ww"


def without_hidden(text: str) -> str:
    return "".join(char for char, kind in zip(text, classes(text), strict=True) if kind != "h")
