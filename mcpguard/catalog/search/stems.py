"""Reduces words to their stems, so that "deleting", "deletes" and "delete" match each other.

Rules kept here:
1. Words in Latin letters are stemmed as English and words in Cyrillic as Russian; any other word is its own stem. The
   same word always has the same stem.
2. Any thread may call this module: a Snowball stemmer keeps state while it works, so each thread has its own.
"""

import threading
from functools import lru_cache
from typing import Final

from mcpguard.slow_libraries import import_part

_SHORTEST: Final = 3
_KNOWN: Final = 65_536


class _Stemmers(threading.local):
    def __init__(self) -> None:
        self.english = import_part("snowballstemmer", "english_stemmer").EnglishStemmer()
        self.russian = import_part("snowballstemmer", "russian_stemmer").RussianStemmer()


_STEMMERS: Final = _Stemmers()


@lru_cache(_KNOWN)
def stem(word: str) -> str:
    """Return the stem of a word in lower case."""
    if len(word) < _SHORTEST or not word.isalpha():
        return word
    if word.isascii():
        return str(_STEMMERS.english.stemWord(word))
    if "\u0400" <= word[0] <= "\u04ff":
        return str(_STEMMERS.russian.stemWord(word))
    return word
