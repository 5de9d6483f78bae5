"""Finds the words that stand near a query word: synonyms, and words that are related to it.

Rules kept here:
1. Such a word counts at most `SYNONYM_WEIGHT` or `RELATED_WEIGHT` of what the word itself would. It replaces a word
   of a query, never of a tool.
2. The lists are data: `lists/synonyms.txt` and `lists/related.txt`. Each file says its format and where it is from.
3. The lists are read for the first query, or earlier by `prepare_thesaurus`, because stemming them takes long.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.translations import prepare_translations
from mcpguard.catalog.search.vocabulary import WordForms

SYNONYM_WEIGHT: Final = 0.5
RELATED_WEIGHT: Final = 0.6
"""How much a word counts that has the same meaning as another; related words have a share of that."""


def _lines(name: str) -> list[str]:
    text = files(__package__).joinpath("lists", name).read_text("utf-8")
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
def _related() -> Mapping[str, str]:
    return dict(line.split(": ") for line in _lines("related.txt"))


@cache
def written_words() -> WordForms:
    """Return the words of the synonyms in their original form, for repairing misspelt ones."""
    vocabulary = WordForms()
    vocabulary.change("", frozenset(), frozenset(word for group in _groups() for word in group))
    return vocabulary


def prepare_thesaurus() -> None:
    """Read the lists, so that the first query need not. Any thread may call it."""
    _synonyms()
    _related()
    written_words()
    prepare_translations()


def synonyms_of(term: str) -> tuple[str, ...]:
    """Return the terms that mean nearly the same."""
    return _synonyms().get(term, ())


@lru_cache(16_384)
def near_terms(term: str) -> Mapping[str, float]:
    """Return the terms that mean nearly the same or are related, with how much each counts."""
    near: dict[str, float] = {}
    listed = _related().get(term, "").split()
    for other, percent in zip(listed[::2], listed[1::2], strict=True):
        near[other] = RELATED_WEIGHT * int(percent) / 100
    for other in synonyms_of(term):
        near[other] = max(near.get(other, 0.0), SYNONYM_WEIGHT)
    return near
