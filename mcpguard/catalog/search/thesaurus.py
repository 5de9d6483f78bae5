"""Finds the words that stand near what is asked: synonyms, related words, and words of tools for everyday ones.

Rules kept here:
1. Such a word counts at most `SYNONYM_WEIGHT` or `RELATED_WEIGHT` of what the word itself would. It replaces a word
   of a query, never of a tool.
2. Everyday words and expressions ("umbrella", "remind me") stand for the words of tools that do what is meant. What is
   listed first counts as much as a word that is related wholly, and each later one a share of that.
3. The lists are data: `lists/synonyms.txt`, `related.txt`, `everyday.txt`. Each says its format and where it is from.
4. The lists are read for the first query, or earlier by `prepare_thesaurus`, because stemming them takes long.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
from typing import Final

from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.translations import prepare_translations
from mcpguard.catalog.search.vocabulary import WordForms
from mcpguard.catalog.search.words import words

SYNONYM_WEIGHT: Final = 0.5
RELATED_WEIGHT: Final = 0.6
"""How much a word counts that has the same meaning as another; related words have a share of that."""
MOST_EXPRESSIONS: Final = 16
"""Everyday expressions that are looked for in one query."""
_LATER: Final = 0.85
_LONGEST_EXPRESSION: Final = 5


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
def _everyday() -> tuple[Mapping[str, str], Mapping[tuple[str, ...], str]]:
    """Return the words of tools by the stems of everyday words, and by the words of everyday expressions."""
    single: dict[str, str] = {}
    several: dict[tuple[str, ...], str] = {}
    for line in _lines("everyday.txt"):
        said, meant = line.split(": ")
        for each in said.split():
            parts = tuple(words(each.replace("_", " ")))
            if len(parts) == 1:
                single.setdefault(stem(parts[0]), meant)
            else:
                several.setdefault(parts, meant)
    return single, several


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
    _everyday()
    written_words()
    prepare_translations()


def synonyms_of(term: str) -> tuple[str, ...]:
    """Return the terms that mean nearly the same."""
    return _synonyms().get(term, ())


def everyday_terms(term: str) -> Mapping[str, float]:
    """Return the terms of tools that are meant by an everyday word, with how much each counts."""
    return _meant_terms(_everyday()[0].get(term, ""), term)


def everyday_expressions(said: Sequence[str]) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield everyday expressions among the words of a query, the longest first, with the terms of tools for each."""
    return islice(_expressions(said), MOST_EXPRESSIONS)


@lru_cache(16_384)
def near_terms(term: str) -> Mapping[str, float]:
    """Return the terms that stand near one, with how much each counts."""
    near: dict[str, float] = {}
    listed = _related().get(term, "").split()
    for other, percent in zip(listed[::2], listed[1::2], strict=True):
        near[other] = RELATED_WEIGHT * int(percent) / 100
    for other in synonyms_of(term):
        near[other] = max(near.get(other, 0.0), SYNONYM_WEIGHT)
    for other, weight in everyday_terms(term).items():
        near[other] = max(near.get(other, 0.0), weight)
    return near


def _expressions(said: Sequence[str]) -> Iterator[tuple[str, Mapping[str, float]]]:
    several = _everyday()[1]
    for length in range(_LONGEST_EXPRESSION, 1, -1):
        for at in range(len(said) - length + 1):
            if meant := several.get(tuple(said[at : at + length])):
                yield " ".join(said[at : at + length]), _meant_terms(meant)


@lru_cache(4096)
def _meant_terms(meant: str, but: str = "") -> Mapping[str, float]:
    stems = dict.fromkeys(stem(word) for word in meant.split())
    stems.pop(but, None)
    return {term: RELATED_WEIGHT * _LATER**at for at, term in enumerate(stems)}
