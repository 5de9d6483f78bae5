"""Finds synonyms of query words, and English equivalents of words in other languages.

Rules kept here:
1. A synonym of a query word counts at most `SYNONYM_WEIGHT` of what the word itself would, and the English for a word
   of another language at most `TRANSLATION_WEIGHT`. Both replace words of a query, never of a tool.
2. Translations take nothing from a word that does occur in tools.
3. The lists are data: `synonyms.txt` and `translations.txt`. Each file explains its format.
4. The lists are read for the first query, or earlier by `prepare_thesaurus`, because stemming them takes long.
"""

from collections.abc import Mapping
from functools import cache
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


@cache
def _groups() -> list[list[str]]:
    return [line.split() for line in _lines("synonyms.txt")]


@cache
def _synonyms() -> Mapping[str, tuple[str, ...]]:
    others: dict[str, dict[str, None]] = {}
    for group in _groups():
        stems = [stem(word) for word in group]
        for one in stems:
            others.setdefault(one, {}).update(dict.fromkeys(other for other in stems if other != one))
    return {one: tuple(sorted(some)) for one, some in others.items()}


@cache
def _translations() -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
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


@cache
def written_words() -> WordForms:
    """Return the words of the synonyms in their original form, for repairing misspelt ones."""
    vocabulary = WordForms()
    vocabulary.change("", frozenset(), frozenset(word for group in _groups() for word in group))
    return vocabulary


def prepare_thesaurus() -> None:
    """Read the lists, so that the first query need not. Any thread may call it."""
    _synonyms()
    _translations()
    written_words()


def synonyms_of(term: str) -> tuple[str, ...]:
    """Return the terms that mean nearly the same."""
    return _synonyms().get(term, ())


def english_for(term: str) -> tuple[str, ...]:
    """Return the English terms for a term of another language."""
    return _translations()[0].get(term, ())


def english_for_stretches(text: str) -> dict[str, tuple[str, ...]]:
    """Return the English terms for the words in stretches without blanks, the longest word where several begin."""
    terms: dict[str, tuple[str, ...]] = {}
    _, known = _translations()
    for stretch in unspaced_stretches(text):
        at = 0
        while at < len(stretch):
            longest = min(len(stretch), at + _LONGEST_UNSPACED)
            word = next((stretch[at:end] for end in range(longest, at, -1) if stretch[at:end] in known), "")
            if word:
                terms[word] = known[word]
            at += len(word) or 1
    return terms
