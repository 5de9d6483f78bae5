"""Adds to a query what use has taught: words of earlier searches count for the tools that were called after them.

Rules kept here:
1. What is learned is one more field of a tool. It only ever adds to the score of a tool that has it; every other score
   stays as it was, because how rare a word is depends on the texts of tools alone.
2. A learned word counts as written: words near to it were not said. One that many tools have learned says little, and
   counts as if their texts had it.
3. A word counts once per tool, whether the tool has it in its texts, has learned it, or both.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Protocol

from mcpguard.catalog.search.query import IndexView, rareness, telling_words
from mcpguard.catalog.search.ranking import MatchKind, QueryWord, RankedTerm, Weights
from mcpguard.catalog.search.stems import stem


class LearningView(IndexView, Protocol):
    """What a query needs to know of an index that learns."""

    def learned_weights(self, term: str) -> Weights:
        """Return the tools that have learned a term, and how much it counts in each, its texts included."""
        ...


def with_learned(found: Sequence[QueryWord], query: str, known: LearningView) -> list[QueryWord]:
    """Return the words of a query, each with the tools that have learned it; and those that only such tools have."""
    own = {stem(word.word): at for at, word in enumerate(found)}
    among = {term.term: at for at, word in reversed([*enumerate(found)]) for term in word.terms}
    asked = telling_words(query)
    often = Counter(map(stem, asked))
    found = [*found]
    for term, word in {stem(word): word for word in reversed(asked)}.items():
        if (learned := _learned_term(term, often[term], known)) is None:
            continue
        at = own.get(term, among.get(term))
        if at is None:
            rare = rareness(known.count_having(term), known)
            found.append(QueryWord(term, rare, [learned], word, MatchKind.LEARNED, (term,)))
        else:
            more = [*found[at].terms, learned]
            found[at] = replace(found[at], terms=sorted(more, key=lambda each: -each.bound))
    return found


def _learned_term(term: str, often: int, known: LearningView) -> RankedTerm | None:
    weights = known.learned_weights(term)
    if not weights:
        return None
    factor = rareness(max(len(weights), known.count_having(term)), known) * sqrt(often)
    return RankedTerm(term, weights, factor, max(weights.values()) * factor, learned=True)
