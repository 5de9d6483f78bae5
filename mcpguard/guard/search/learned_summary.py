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
class LearnedSummary:
    """The learned words of a tool, those that count most first, and how many callers have taught them."""

    words: tuple[str, ...]
    callers: int


def summarize(uses: SearchUses, counted: CountedUses, tool: UsedTool) -> LearnedSummary:
    """Return what a tool has learned, each word in the form in which it was said most often."""
    shares = counted.shares(tool)
    said: dict[str, Counter[str]] = {}
    for use in uses.queries_for(tool):
        for word in words(use.words()):
            if (of := stem(word)) in shares:
                said.setdefault(of, Counter())[word] += 1
    ordered = sorted(said, key=lambda one: (-shares[one], -said[one].total(), one))
    shown = tuple(min(said[one], key=lambda word: (-said[one][word], word)) for one in ordered[:MOST_WORDS])
    return LearnedSummary(shown, len(counted.callers(tool)) if shown else 0)
