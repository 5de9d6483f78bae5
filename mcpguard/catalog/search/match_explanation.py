"""Tells why a tool is found: which words of the query count for it, by which of its terms, and how much each gives.

Rule kept here: the points of the words are those of the ranking, so the best term of each word, weighed as there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mcpguard.catalog.search.ranking import MatchKind, QueryWord
from mcpguard.catalog.search.stems import stem


@dataclass(frozen=True, slots=True)
class MatchedWord:
    """A word of the query that counts for a tool: the term of the tool that it led to, how, and what that gives.
    `learned`: it counts, or counts more, because earlier searches with it led to the tool."""

    asked: str
    term: str
    match: MatchKind
    points: float
    learned: bool


@dataclass(frozen=True, slots=True)
class ToolExplanation:
    """Why a tool is found: its words, those that give most first.

    `repeats`: the tools that it stands after because they say the same and were approved earlier, as `server:name`.
    `gained`: the points that it gained, or lost, where tools were scored anew.
    """

    words: tuple[MatchedWord, ...]
    repeats: tuple[str, ...]
    gained: float

    @property
    def points(self) -> float:
        """The points of all of this. A tool has another score only by its place: its name is said, or another repeats
        it.
        """
        return sum(word.points for word in self.words) + self.gained


def matched_words(understood: Sequence[QueryWord], number: int) -> tuple[MatchedWord, ...]:
    """Return the words that count for a tool, those that give most first."""
    matched = (found for word in understood if (found := _matched(word, number)) is not None)
    return tuple(sorted(matched, key=lambda one: (-one.points, one.asked)))


def _matched(word: QueryWord, number: int) -> MatchedWord | None:
    """Return what a word gives to a tool, by the best of its terms; None if the tool has none of them."""
    having = [(term.weights[number] * term.factor, term) for term in word.terms if number in term.weights]
    if not having:
        return None
    points, best = max(having, key=lambda each: each[0])
    return MatchedWord(word.asked, best.term, _match(word, best.term), points, best.learned)


def _match(word: QueryWord, term: str) -> MatchKind:
    """Return how a word led to a term. A word of another language may stand in a tool as it is."""
    if word.match is MatchKind.LEARNED:
        return word.match
    if term == stem(word.asked.replace(" ", "")):
        return MatchKind.SAME
    return word.match if term in word.meant else MatchKind.NEAR
