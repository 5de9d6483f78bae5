"""Determines which meanings a text may have from its words alone, at a fraction of the cost of reading it in full.

Rules kept here:
1. A glance may report too many meanings, but never misses one that reading would find: it reports a meaning if all
   words of one of its phrases are somewhere in the text.
2. Words are split and folded as in reading. Digits that stand for letters count as those letters.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from mcpguard.inspection.reading.patterns import mask
from mcpguard.inspection.reading.tokens import folded_word, plain_char, possible_words, word_runs
from mcpguard.inspection.reading.tokens import words as split
from mcpguard.inspection.reading.vocabulary import forms
from mcpguard.inspection.texts.marks import MARKS
from mcpguard.inspection.vocabulary import PATHS_ALONE, PATHS_ANYWHERE
from mcpguard.text.linear import any_word, compile_pattern

_LONGEST: Final = 64
_SECRET_FILE, _EMAIL, _NUMBERS = mask(["SECRET_FILE"]), mask(["EMAIL"]), mask(["NUMBER"])
ALWAYS: Final = mask([*MARKS.difference(["SECRET_FILE", "EMAIL", "NUMBER"]), "FOREIGN", "STRANGE"])
"""Meanings that are known by their form are taken to be there, except for those that are quickly checked."""
_IN_FILES: Final = any_word([*PATHS_ANYWHERE, *PATHS_ALONE])
_IN_NUMBERS: Final = r"\+[0-9]|[A-Z]{2}[0-9]{2} ?[0-9]{4}|0x[0-9a-fA-F]{40}"
FORMS: Final = f"{_IN_FILES}|{_IN_NUMBERS}|@"
"""The pattern of all that has a meaning by its form (`meanings_by_form`)."""
_FILES: Final = compile_pattern(_IN_FILES)
_NUMBER: Final = compile_pattern(_IN_NUMBERS)


class _Folding(dict[int, str]):
    def __missing__(self, code: int) -> str:
        self[code] = plain_char(chr(code))
        return self[code]


_FOLDING: Final = _Folding()
_SMALL: Final = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ") for code in range(256))
"""Makes letters of ASCII small, and blanks of all that stands between words."""


def words_of(text: str) -> set[str]:
    """Return the different words of a text, split as for reading."""
    if text.isascii():
        return set(text.encode().translate(_SMALL).decode().split())
    return {folded_word(word) for word in word_runs(text.translate(_FOLDING))}


def meanings_by_form(raw: bytes) -> int:
    """Return what a text with these bytes may mean by the form of something in it, as a mask."""
    seen = 0
    if _FILES.search(raw):
        seen |= _SECRET_FILE
    if b"@" in raw:
        seen |= _EMAIL
    if _NUMBER.search(raw):
        seen |= _NUMBERS
    return seen


class Glance:
    """A vocabulary by its single words, which tells what a text may mean."""

    def __init__(self, *tables: Mapping[str, str]) -> None:
        self._whole: dict[str, list[tuple[int, frozenset[str]]]] = {}
        self._stems: dict[str, list[tuple[int, frozenset[str]]]] = {}
        for table in tables:
            for meanings, entries in table.items():
                bits = mask(meanings.split())
                for entry in entries.split():
                    for form in forms(entry):
                        self._learn(form, bits)
        self._lengths = tuple(sorted({len(stem) for stem in self._stems}))
        self._of = lru_cache(maxsize=65_536)(self._looked_up)

    def _learn(self, entry: str, bits: int) -> None:
        phrase = split(entry.removesuffix("*").replace("_", " "))
        if len(phrase) == 1 and entry.endswith("*"):
            self._stems.setdefault(phrase[0], []).append((bits, frozenset()))
            return
        known = phrase[:-1] if entry.endswith("*") else phrase
        key = max(known, key=len)  # the longest is in the fewest texts
        self._whole.setdefault(key, []).append((bits, frozenset(known) - {key}))

    def possible_meanings(self, words: set[str]) -> int:
        """Return the meanings that a text with these words may have, as a mask."""
        seen = ALWAYS
        for word in words:
            sure, perhaps = self._of(word)
            seen |= sure
            for bits, rest in perhaps:
                if bits & ~seen and rest <= words:
                    seen |= bits
        return seen

    def _looked_up(self, word: str) -> tuple[int, tuple[tuple[int, frozenset[str]], ...]]:
        """Return the meanings of a word by itself, and those it has together with others."""
        entries = [*self._entries(word)]
        sure = 0
        for bits, rest in entries:
            if not rest:
                sure |= bits
        return sure, tuple((bits, rest) for bits, rest in entries if rest)

    def _entries(self, word: str) -> Iterator[tuple[int, frozenset[str]]]:
        for form in possible_words(word[:_LONGEST]):
            yield from self._whole.get(form, ())
            for length in self._lengths:
                if length > len(form):
                    break
                yield from self._stems.get(form[:length], ())
