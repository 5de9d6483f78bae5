"""Parses a query: its words, and the terms of the index that match each.

Rules kept here:
1. A query is cut to `LONGEST` characters and `MOST_WORDS` different words, and at most `MOST_REPAIRED` of them are
   repaired, so that no query takes long.
2. A word that occurs in tools is used as it is. One that does not is foreign, glued together, or misspelt.
3. A term that replaces a word never counts more than the word itself would.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, Protocol

from mcpguard.catalog.search.ranking import QueryWord, RankedTerm, Weights
from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.stopwords import ASKING, STOP
from mcpguard.catalog.search.thesaurus import (
    SYNONYM_WEIGHT,
    TRANSLATION_WEIGHT,
    english_for,
    english_for_stretches,
    synonyms_of,
    written_words,
)
from mcpguard.catalog.search.vocabulary import WordForms
from mcpguard.catalog.search.words import fold, words

LONGEST: Final = 2_000
MOST_WORDS: Final = 64
MOST_REPAIRED: Final = 8
_REPAIRED: Final = (1.0, 0.9, 0.6)
"""How much a word counts with no, one and two mistakes."""
_FEW_WORDS: Final = 8
"""Words from which a query explains itself, so that synonyms count less."""
_SHORTEST_JOINED: Final = 5
_SWITCHING: Final = frozenset({"turn", "switch"})


class IndexView(Protocol):
    """What a query needs to know of the index, as one caller sees it."""

    @property
    def vocabulary(self) -> WordForms: ...
    def count(self) -> int: ...
    def count_having(self, term: str) -> int: ...
    def weights(self, term: str) -> Weights: ...
    def most(self, term: str) -> float: ...
    def has_form(self, form: str) -> bool: ...


def read_query(query: str, known: IndexView) -> list[QueryWord]:
    """Return the words of a query for which the index has terms."""
    text = query[:LONGEST]
    query_words = words(text)
    telling = _telling(query_words) or [word for word in query_words if word not in STOP] or query_words
    asked = list(dict.fromkeys(telling))[:MOST_WORDS]
    reading = _Reading(known, len(asked))
    return list(reading.read(asked, fold(text)))


def _telling(query_words: list[str]) -> list[str]:
    """Return the words that say what is wanted. "on" does so in "turn on" and "lights on", not in "notes on trees"."""
    kept = [word for word in query_words if word not in STOP and word not in ASKING]
    if "on" not in kept:
        return kept
    before = dict(zip(kept[1:], kept, strict=False)).get("on")
    return kept if kept[-1] == "on" or before in _SWITCHING else [word for word in kept if word != "on"]


class _Reading:
    """The state of reading one query."""

    def __init__(self, known: IndexView, length: int) -> None:
        self._known = known
        self._otherwise = SYNONYM_WEIGHT * min(1.0, _FEW_WORDS / max(1, length))
        self._repairs = MOST_REPAIRED
        self._done: set[str] = set()

    def read(self, asked: list[str], text: str) -> Iterator[QueryWord]:
        for word in asked:
            yield from self._word(word)
        for one, other in pairwise(asked):
            joined = one + other
            if len(joined) >= _SHORTEST_JOINED and self._known.has_form(joined):
                yield from self._known_word(stem(joined))
        for word, terms in english_for_stretches(text).items():
            yield from self._standing_for(f"{word} in English", dict.fromkeys(terms, TRANSLATION_WEIGHT))

    def _word(self, word: str) -> Iterator[QueryWord]:
        term = stem(word)
        if self._known.count_having(term):
            yield from self._known_word(term)
        elif others := self._otherwise_called(term):
            yield from self._standing_for(word, others)
        elif self._repairs:
            self._repairs -= 1
            yield from self._repaired(word)

    def _otherwise_called(self, term: str) -> dict[str, float]:
        """Return the terms in the index for a foreign word or one that no tool has, by synonyms and translations."""
        english = english_for(term)
        near = {other for one in (term, *english) for other in synonyms_of(one)}
        called = {**dict.fromkeys(sorted(near), SYNONYM_WEIGHT), **dict.fromkeys(english, TRANSLATION_WEIGHT)}
        return {other: weight for other, weight in called.items() if self._known.count_having(other)}

    def _known_word(self, term: str) -> Iterator[QueryWord]:
        others = {*synonyms_of(term), *english_for(term)} - {term}
        yield from self._standing_for(term, {term: 1.0, **dict.fromkeys(sorted(others), self._otherwise)})

    def _repaired(self, word: str) -> Iterator[QueryWord]:
        vocabulary, has_form = self._known.vocabulary, self._known.has_form
        near = vocabulary.nearest_forms(word, has_form)
        if not near or near[0][1] > 1:
            parts = vocabulary.parts(word, has_form)
            for part in parts:
                yield from self._known_word(stem(part))
            if parts:
                return
        if near:
            yield from self._standing_for(word, {stem(form): _REPAIRED[mistakes] for form, mistakes in near})
        else:
            yield from self._standing_for(word, self._meant(word))

    def _meant(self, word: str) -> dict[str, float]:
        """Return the terms in the index for a misspelt word of the synonyms."""
        meant: dict[str, float] = {}
        for form, mistakes in written_words().nearest_forms(word, lambda _: True):
            for term, weight in self._otherwise_called(stem(form)).items():
                meant[term] = max(meant.get(term, 0.0), weight * _REPAIRED[mistakes])
        return meant

    def _standing_for(self, word: str, terms: dict[str, float]) -> Iterator[QueryWord]:
        """Yield a word, once in a query, with the terms that stand for it and how much each counts."""
        having = {term: self._known.count_having(term) for term in terms}
        rare = {term: self._rareness(many) for term, many in having.items() if many}
        if not rare or word in self._done:
            return
        self._done.add(word)
        most = rare.get(word, max(rare.values()))
        chosen = [self._term(term, min(rare[term], most) * terms[term]) for term in rare]
        yield QueryWord(word, most, sorted(chosen, key=lambda one: -one.bound))

    def _term(self, term: str, factor: float) -> RankedTerm:
        return RankedTerm(self._known.weights(term), factor, self._known.most(term) * factor)

    def _rareness(self, having: int) -> float:
        """Return how rare a term is, as Lucene defines it: never negative, however many tools have the term."""
        return math.log(1 + (self._known.count() - having + 0.5) / (having + 0.5))
