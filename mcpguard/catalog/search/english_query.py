"""Puts a query into English, word by word, for a model of sentences that knows no other language.

A query in a language that the lists know has its words replaced by their most usual meanings. In any other, a word is
foreign if nothing is near to it in English and a list has it; unless most of its words are, the query is English, and
they are misspelt. Any thread may call this module.
"""

from collections.abc import Sequence

from mcpguard.catalog.search.query import LONGEST, MOST_GUESSED, MOST_WORDS
from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.stopwords import STOP
from mcpguard.catalog.search.thesaurus import near_terms
from mcpguard.catalog.search.translations import (
    first_meaning,
    language_of,
    listed_in,
    listed_in_any,
    listed_in_stretches,
)
from mcpguard.catalog.search.words import fold, unspaced_stretches, words


def in_english(query: str) -> str:
    """Return a query with English words for foreign ones, as far as they are known; an English one as it is."""
    text = fold(query[:LONGEST])
    query_words = words(text)[:MOST_WORDS]
    if unspaced_stretches(text):
        spaced = [word for word in query_words if not unspaced_stretches(word)]
        return " ".join([*(first_meaning(listed) for _, listed in listed_in_stretches(text)), *spaced])
    if language := language_of(query_words):
        return " ".join(first_meaning(listed) or word for word, listed in listed_in(query_words, language))
    foreign = _foreign_words(query_words)
    if 2 * len(foreign) <= sum(word not in STOP for word in query_words):
        return query
    return " ".join(foreign.get(word, word) for word in query_words)


def _foreign_words(query_words: Sequence[str]) -> dict[str, str]:
    """Return the words that seem to be foreign, with their meanings."""
    unknown = [word for word in query_words if word not in STOP and not near_terms(stem(word))][:MOST_GUESSED]
    return {word: first_meaning(listed) for word in unknown if (listed := listed_in_any(word))}
