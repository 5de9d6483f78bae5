"""Makes untrusted text safe for a terminal or a page: nothing in it moves the cursor, hides, or reverses the line."""

import unicodedata
from collections.abc import Callable
from typing import Final

_HIDDEN = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
"""Controls, format characters (bidi, zero-width, tags), private use, surrogates, unassigned, line separators."""
BLANK_LETTERS: Final = frozenset("\u3164\u115f\u1160\uffa0\u2800\u034f")
"""Letters and signs that show nothing."""


def visible(text: str) -> str:
    """Return the text with every hidden character written as its code point, for example ⟨U+202E⟩."""
    if text.isascii() and text.isprintable():
        return text
    return hidden_as(text, lambda char: f"⟨U+{ord(char):04X}⟩")


def hidden_as(text: str, escape: Callable[[str], str]) -> str:
    """Return the text with every hidden character replaced by what `escape` returns for it."""
    return "".join(escape(char) if hides(char) else char for char in text)


def hides(char: str) -> bool:
    """Tell whether a character is invisible, or changes how others are displayed."""
    return unicodedata.category(char) in _HIDDEN or char in BLANK_LETTERS or _is_variation_selector(char)


def _is_variation_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef" or "\u180b" <= char <= "\u180d"
