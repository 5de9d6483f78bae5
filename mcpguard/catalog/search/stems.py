"""Reduces words to their stems, so that "deleting", "deletes" and "delete" match each other.

Rules kept here:
1. Words in Latin letters are stemmed as English and words in Cyrillic as Russian; any other word is its own stem. The
   same word always has the same stem.
2. Any thread may call this module: a Snowball stemmer keeps state while it works, so each thread has its own.
"""

import threading
from functools import lru_cache
from typing import Any, Final

from mcpguard.slow_libraries import import_part

_SHORTEST: Final = 3
_KNOWN: Final = 65_536


class _Stemmers(threading.local):
    def __init__(self) -> None:
        self._of: dict[str, Any] = {}

    def stem(self, language: str, word: str) -> str:
        stemmer = self._of.get(language)
        if stemmer is None:
            part = import_part("snowballstemmer", f"{language}_stemmer")
            stemmer = self._of[language] = getattr(part, f"{language.title()}Stemmer")()
        return str(stemmer.stemWord(word))


_STEMMERS: Final = _Stemmers()


@lru_cache(_KNOWN)
def stem(word: str) -> str:
    """Return the stem of a word in lower case."""
    if len(word) < _SHORTEST or not word.isalpha():
        return word
    if word.isascii():
        return _STEMMERS.stem("english", word)
    if "\u0400" <= word[0] <= "\u04ff":
        return _STEMMERS.stem("russian", word)
    return word


@lru_cache(_KNOWN)
def stem_in(language: str, word: str) -> str:
    """Return the stem of a word in lower case that is known to be in this language."""
    return word if len(word) < _SHORTEST or not word.isalpha() else _STEMMERS.stem(language, word)
