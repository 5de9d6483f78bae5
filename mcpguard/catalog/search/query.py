"""Parses a query: its words, and the terms of the index that match each.

Rules kept here:
1. A query is cut to `LONGEST` characters and `MOST_WORDS` different words. The languages of at most `MOST_GUESSED` of
   them are guessed, at most `MOST_REPAIRED` are repaired, and about `MOST_TERMS` terms stand for them in all, so that
   no query takes long.
2. A word that occurs in tools is used as it is, together with words near to it. One that does not is near to another,
   foreign, glued together, or misspelt. In a query that is in another language, words are translated first.
   An expression of several everyday words counts besides them.
3. A term that replaces a word never counts more than the word itself would. A word that is said more than once counts
   more, by the root of how often.
"""

import math
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, Protocol

from mcpguard.catalog.search.ranking import MatchKind, QueryWord, RankedTerm, Weights
from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.stopwords import ASKING, SMALL_WORDS, STOP
from mcpguard.catalog.search.thesaurus import everyday_expressions, near_terms, written_words
from mcpguard.catalog.search.translations import (
    Meaning,
    expressions_in,
    language_of,
    meanings_in_any,
    meanings_in_stretches,
    meanings_of,
)
from mcpguard.catalog.search.vocabulary import WordForms
from mcpguard.catalog.search.words import fold, unspaced_stretches, words

LONGEST: Final = 2_000
MOST_WORDS: Final = 64
MOST_GUESSED: Final = 32
MOST_REPAIRED: Final = 8
MOST_TERMS: Final = 150
FEWEST_TERMS: Final = 3
"""Terms that may stand for a word, however long the query is."""
_COMMON: Final = 100
"""Tools that have a term, from which it is worth half as much to look at them."""
_LOOKED_AT: Final = 300
"""Tools that are looked at for what stands for a word in its place; fewer the more words a query has."""
TRANSLATION_WEIGHT: Final = 0.8
_LESS_USUAL: Final = 0.9
"""How much each meaning of a foreign word counts, compared with the one before it."""
_REPAIRED: Final = (1.0, 0.9, 0.6)
"""How much a word counts with no, one and two mistakes."""
_FEW_WORDS: Final = 8
"""Words from which a query explains itself, so that words near to its own count less."""
_EXPLAINED: Final = 1.25
_SLIGHT: Final = 0.05
"""A term that counts less than this, compared with the best that stands for a word, costs more than it is worth."""
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
    return list(_reading_of(query, known).read())


def read_whole_query(query: str, known: IndexView) -> tuple[list[QueryWord], list[str]]:
    """Return the words of a query for which the index has terms, and those for which it has none."""
    reading = _reading_of(query, known)
    return list(reading.read()), list(reading.unmatched(unspaced_stretches(fold(query[:LONGEST]))))


def _reading_of(query: str, known: IndexView) -> "_Reading":
    text = fold(query[:LONGEST])
    query_words = words(text)
    language = language_of(query_words)
    found = dict(expressions_in(query_words, language)) if language else {}
    joined = {part for expression in found for part in expression.split()}
    found |= meanings_in_stretches(text)
    telling = [word for word in _telling(query_words, language) if word not in joined]
    asked = list(dict.fromkeys(telling))[:MOST_WORDS]
    expressions = [] if language else [*everyday_expressions(query_words)]
    return _Reading(known, language, asked, found, expressions, Counter(map(stem, telling)))


def telling_words(query: str) -> list[str]:
    """Return the words of a query that say what is wanted, as often as they are said; none if none does."""
    query_words = words(fold(query[:LONGEST]))
    some = _without_small(query_words, language_of(query_words))
    return [word for word in _without_on(some) if word not in ASKING][:MOST_WORDS]


def rareness(having: int, known: IndexView) -> float:
    """Return how rare a term is, as Lucene defines it: never negative, however many tools have the term."""
    return math.log(1 + (known.count() - having + 0.5) / (having + 0.5))


def _telling(query_words: Sequence[str], language: str | None) -> Sequence[str]:
    """Return the words that say what is wanted; all of them if none does."""
    some = _without_small(query_words, language)
    return _without_on([word for word in some if word not in ASKING]) or some or query_words


def _without_small(query_words: Sequence[str], language: str | None) -> list[str]:
    left_out = STOP | SMALL_WORDS[language] if language else STOP
    return [word for word in query_words if word not in left_out]


def _without_on(kept: list[str]) -> list[str]:
    """Leave out "on" where it says nothing. It does in "turn on" and "lights on", not in "notes on trees"."""
    if "on" not in kept:
        return kept
    before = dict(zip(kept[1:], kept, strict=False)).get("on")
    return kept if kept[-1] == "on" or before in _SWITCHING else [word for word in kept if word != "on"]


class _Reading:
    """The state of reading one query: the words that are asked for, and those found in it with their meanings."""

    def __init__(
        self,
        known: IndexView,
        language: str | None,
        asked: Sequence[str],
        found: Mapping[str, Sequence[Meaning]],
        expressions: Sequence[tuple[str, Mapping[str, float]]],
        times: Mapping[str, int],
    ) -> None:
        self._known = known
        self._language = language
        self._asked = asked
        self._found = found
        self._expressions = expressions
        self._times = times
        length = len(found) + sum(not unspaced_stretches(word) for word in asked)
        self._unsure = min(1.0, _FEW_WORDS / max(1, length)) ** _EXPLAINED
        length += len(expressions)
        self._most = max(FEWEST_TERMS, MOST_TERMS // max(1, length))
        self._looked_at = _LOOKED_AT / math.sqrt(max(1, length))
        self._guesses = MOST_GUESSED
        self._repairs = MOST_REPAIRED
        self._done: set[str] = set()
        self._matched: set[str] = set()

    def read(self) -> Iterator[QueryWord]:
        for word in self._asked:
            yield from self._word(word)
        for one, other in pairwise(self._asked):
            joined = one + other
            if len(joined) >= _SHORTEST_JOINED and self._known.has_form(joined):
                yield from self._known_word(stem(joined), f"{one} {other}", MatchKind.SAME)
        for word, meanings in self._found.items():
            yield from self._translated(word, meanings)
        yield from self._everyday()

    def _everyday(self) -> Iterator[QueryWord]:
        """Yield the expressions, each with the terms that neither a word nor an expression before it has counted."""
        counted = set(self._times)
        for expression, terms in self._expressions:
            meant = {term: weight * self._unsure for term, weight in terms.items() if term not in counted}
            counted |= meant.keys()
            yield from self._standing_for(expression, meant, expression, MatchKind.NEAR, ())

    def unmatched(self, stretches: Sequence[str]) -> Iterator[str]:
        """Yield the words that have led to no term, after reading, and such `stretches` without blanks as a whole: of
        the pairs of letters in one, many are parts of two words.
        """
        matched = {part for word in self._matched for part in word.split()}
        for word in self._asked:
            if word not in matched and not unspaced_stretches(word):
                yield word
        for stretch in dict.fromkeys(stretches):
            if not any(word in stretch for word in matched):
                yield stretch

    def _word(self, word: str) -> Iterator[QueryWord]:
        term = stem(word)
        if self._language and (meanings := meanings_of(word, self._language)):
            yield from self._translated(word, meanings)
        elif self._known.count_having(term):
            yield from self._known_word(term, word, MatchKind.SAME)
        elif near := self._near(term):
            yield from self._standing_for(word, near, word, MatchKind.NEAR, ())
        elif meanings := self._guessed(word):
            yield from self._translated(word, meanings)
        elif self._repairs:
            self._repairs -= 1
            yield from self._repaired(word)

    def _guessed(self, word: str) -> tuple[Meaning, ...]:
        """Return the meanings of a word in whichever language has it."""
        if not self._guesses:
            return ()
        self._guesses -= 1
        return meanings_in_any(word)

    def _translated(self, word: str, meanings: Sequence[Meaning]) -> Iterator[QueryWord]:
        """Yield the English words for a foreign one. It is itself one of them if tools have it, as names often do."""
        first = meanings[0]
        if len(first) > 1:
            for term in first:
                terms = self._english(term, TRANSLATION_WEIGHT)
                yield from self._standing_for(f"{term} for {word}", terms, word, MatchKind.TRANSLATION, (term,))
            return
        single = [one[0] for one in meanings if len(one) == 1]
        meant = {stem(word): 1.0} | {term: TRANSLATION_WEIGHT * _LESS_USUAL**at for at, term in enumerate(single)}
        terms = self._english(first[0], TRANSLATION_WEIGHT) | meant
        yield from self._standing_for(f"{word} in English", terms, word, MatchKind.TRANSLATION, tuple(meant))

    def _english(self, term: str, weight: float) -> dict[str, float]:
        near = {
            other: weight * share * self._unsure
            for other, share in near_terms(term).items()
            if other not in self._times  # it counts for itself already
        }
        return {**near, term: weight}

    def _near(self, term: str) -> dict[str, float]:
        """Return the terms in the index that are near to one that no tool has."""
        return {other: weight for other, weight in near_terms(term).items() if self._known.count_having(other)}

    def _known_word(self, term: str, asked: str, match: MatchKind) -> Iterator[QueryWord]:
        yield from self._standing_for(term, self._english(term, 1.0), asked, match, (term,))

    def _repaired(self, word: str) -> Iterator[QueryWord]:
        vocabulary, has_form = self._known.vocabulary, self._known.has_form
        near = vocabulary.nearest_forms(word, has_form)
        if not near or near[0][1] > 1:
            parts = vocabulary.parts(word, has_form)
            for part in parts:
                yield from self._known_word(stem(part), word, MatchKind.REPAIR)
            if parts:
                return
        repaired = {stem(form): _REPAIRED[mistakes] for form, mistakes in near}
        yield from self._standing_for(word, repaired or self._meant(word), word, MatchKind.REPAIR, repaired)

    def _meant(self, word: str) -> dict[str, float]:
        """Return the terms in the index for a misspelt word of the synonyms."""
        meant: dict[str, float] = {}
        for form, mistakes in written_words().nearest_forms(word, lambda _: True):
            for term, weight in self._near(stem(form)).items():
                meant[term] = max(meant.get(term, 0.0), weight * _REPAIRED[mistakes])
        return meant

    def _standing_for(
        self, word: str, terms: Mapping[str, float], asked: str, match: MatchKind, meant: Collection[str]
    ) -> Iterator[QueryWord]:
        """Yield a word, once in a query, with the terms that stand for it and how much each counts.

        `meant`: those that it means; the others are near to them.
        """
        having = {term: self._known.count_having(term) for term in terms}
        rare = {term: rareness(many, self._known) for term, many in having.items() if many}
        if not rare:
            return
        self._matched.add(asked)
        if word in self._done:
            return
        self._done.add(word)
        most = rare.get(word, max(rare.values()))
        factors = {term: min(one, most) * terms[term] for term, one in rare.items()}
        often = math.sqrt(self._times.get(stem(word), 1))
        chosen = [self._term(term, factors[term] * often) for term in self._worth_it(factors, having, meant)]
        yield QueryWord(word, most, sorted(chosen, key=lambda one: -one.bound), asked, match, meant)

    def _worth_it(
        self, factors: Mapping[str, float], having: Mapping[str, int], meant: Container[str]
    ) -> Iterator[str]:
        """Yield the terms that are meant, and of the others those that count most for the time that they take."""
        slight = _SLIGHT * max(factors.values())
        worth = {
            term: (term in meant, factor / (1 + having[term] / _COMMON))
            for term, factor in factors.items()
            if factor >= slight
        }
        left = self._looked_at
        for at, term in enumerate(sorted(worth, key=lambda term: worth[term], reverse=True)[: self._most]):
            if at == 0 or term in meant:
                yield term
            elif having[term] <= left:
                left -= having[term]
                yield term

    def _term(self, term: str, factor: float) -> RankedTerm:
        return RankedTerm(term, self._known.weights(term), factor, self._known.most(term) * factor)
