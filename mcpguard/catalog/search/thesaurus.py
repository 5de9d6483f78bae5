"""Finds synonyms of query words, and English equivalents of words in other languages.

Rules kept here:
1. A synonym of a query word counts at most `SYNONYM_WEIGHT` of what the word itself would, and the English for a word
   of another language at most `TRANSLATION_WEIGHT`. Both replace words of a query, never of a tool.
2. Translations take nothing from a word that does occur in tools.
3. The lists are data: `synonyms.txt` and `translations.txt`. Each file explains its format.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.vocabulary import WordForms
from mcpguard.catalog.search.words import unspaced_stretches, words

SYNONYM_WEIGHT: Final = 0.5
TRANSLATION_WEIGHT: Final = 0.8
_LONGEST_UNSPACED: Final = 8


def _lines(name: str) -> list[str]:
    text = files(__package__).joinpath(name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


_GROUPS: Final = [line.split() for line in _lines("synonyms.txt")]


def _grouped() -> Mapping[str, tuple[str, ...]]:
    others: dict[str, dict[str, None]] = {}
    for group in _GROUPS:
        stems = [stem(word) for word in group]
        for one in stems:
            others.setdefault(one, {}).update(dict.fromkeys(other for other in stems if other != one))
    return {one: tuple(sorted(some)) for one, some in others.items()}


def _english() -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    spaced: dict[str, dict[str, None]] = {}
    stretches: dict[str, dict[str, None]] = {}
    for line in _lines("translations.txt"):
        english, _, foreign = line.partition(":")
        for word in foreign.split():
            if unspaced_stretches(word):
                stretches.setdefault(word, {})[stem(english.strip())] = None
            else:
                spaced.setdefault(stem(words(word)[0]), {})[stem(english.strip())] = None
    return {one: tuple(some) for one, some in spaced.items()}, {one: tuple(some) for one, some in stretches.items()}


def _written() -> WordForms:
    vocabulary = WordForms()
    vocabulary.change("", frozenset(), frozenset(word for group in _GROUPS for word in group))
    return vocabulary


WRITTEN: Final = _written()
"""The words of the synonyms in their original form, for repairing misspelt ones."""
_SYNONYMS: Final = _grouped()
_SPACED, _STRETCHES = _english()


def synonyms_of(term: str) -> tuple[str, ...]:
    """Return the terms that mean nearly the same."""
    return _SYNONYMS.get(term, ())


def english_for(term: str) -> tuple[str, ...]:
    """Return the English terms for a term of another language."""
    return _SPACED.get(term, ())


def english_for_stretches(text: str) -> dict[str, tuple[str, ...]]:
    """Return the English terms for the words in stretches without blanks, the longest word where several begin."""
    terms: dict[str, tuple[str, ...]] = {}
    for stretch in unspaced_stretches(text):
        at = 0
        while at < len(stretch):
            longest = min(len(stretch), at + _LONGEST_UNSPACED)
            word = next((stretch[at:end] for end in range(longest, at, -1) if stretch[at:end] in _STRETCHES), "")
            if word:
                terms[word] = _STRETCHES[word]
            at += len(word) or 1
    return terms
