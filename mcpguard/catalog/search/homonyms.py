"""Puts a tool before later ones that have its name and say the same: the first to be approved is the original.

A server could otherwise offer the tools of another with the same descriptions and a few words more, and be found first.
Whoever says the name of the server means that one.
"""

from collections.abc import Container, Mapping
from typing import Final

from mcpguard.catalog.search.index import Index
from mcpguard.catalog.search.prepared_tools import Document
from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.words import words

SAME: Final = 0.6
"""The share of a tool's words that another with its name has, from which it says the same."""


def originals_first(
    ranked: Mapping[int, float], index: Index, seen: Container[int] | None, said: set[str]
) -> dict[int, float]:
    """Return the tools with their scores, each after those that it repeats.

    `seen`: those that count; None for all. `said`: the words of the query that say something.
    """
    settled: dict[int, float] = {}
    for number, score in ranked.items():
        for original in originals_of(number, index, seen, said):
            settled.setdefault(original, score)
        settled.setdefault(number, score)
    return settled


def is_server_said(server: str, said: set[str]) -> bool:
    """Tell whether the telling words of a query have all words of a server's name: nobody means a server called `the`
    by that word.
    """
    return said >= set(words(server))


def originals_of(number: int, index: Index, seen: Container[int] | None, said: set[str]) -> list[int]:
    """Return the tools that this one repeats, the first to be approved first."""
    same = index.homonyms(number)
    documents, one = index.documents, index.documents[number]
    if len(same) == 1 or is_server_said(one.server, said):
        return []
    earlier = (
        other
        for other in same
        if documents[other].since < one.since and (seen is None or other in seen) and _repeats(one, documents[other])
    )
    return sorted(earlier, key=lambda other: (documents[other].since, documents[other].key))


def _repeats(one: Document, other: Document) -> bool:
    """Tell whether one has most words of the other, apart from the name of its server."""
    said = other.weights.keys() - set(map(stem, words(other.server)))
    return len(said & one.weights.keys()) >= SAME * len(said)
