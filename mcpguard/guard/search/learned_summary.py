"""What use has taught of one tool, for people: the words as they were said, and by how many callers."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.words import words
from mcpguard.guard.search.counted_uses import CountedUses
from mcpguard.guard.search.search_uses import SearchUses, UsedTool

MOST_WORDS: Final = 30


@dataclass(frozen=True, slots=True)
class LearnedWord:
    """A word as it was said most often, and how many callers have said it."""

    word: str
    callers: int


@dataclass(frozen=True, slots=True)
class LearnedSummary:
    """The learned words of a tool, those that count most first, and how many callers have taught them.

    `enabled`: whether anything is learned.
    """

    words: tuple[LearnedWord, ...]
    callers: int
    enabled: bool = True


def summarize(uses: SearchUses, counted: CountedUses, tool: UsedTool) -> LearnedSummary:
    """Return what a tool has learned."""
    shares, callers = counted.shares(tool), counted.callers(tool).values()
    said: dict[str, Counter[str]] = {}
    for use in uses.queries_for(tool):
        for word in words(use.words()):
            if (of := stem(word)) in shares:
                said.setdefault(of, Counter())[word] += 1
    ordered = sorted(said, key=lambda one: (-shares[one], -said[one].total(), one))
    shown = tuple(
        LearnedWord(min(said[one], key=lambda word: (-said[one][word], word)), sum(one in stems for stems in callers))
        for one in ordered[:MOST_WORDS]
    )
    return LearnedSummary(shown, sum(not shares.keys().isdisjoint(stems) for stems in callers))
