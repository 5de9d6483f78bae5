"""What use has taught of the tools, as far as one view may know it.

Rules kept here:
1. The uses of a caller count in a view only if every tool that this caller can see is visible in the view too. So a
   ranking tells nobody what was asked about tools that are hidden from them.
2. A word is learned once it was said in `FEWEST` searches that led to the tool as it is defined now.
3. Callers are counted, not calls: one teaches half of what three or more do.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from mcpguard.catalog.search.learned_weights import ToolName
from mcpguard.guard.search.search_uses import SearchUses, UsedTool

FEWEST: Final = 2
SHARES: Final = (0.0, 0.5, 0.75, 1.0)
"""How much a word counts, by how many callers said it."""
Shares = Mapping[str, float]
Counts = Callable[[str], bool]
"""Tells whether the uses of a caller count, by its id."""
IsCurrent = Callable[[UsedTool], bool]
"""Tells whether a tool is approved in this version."""


class CountedUses:
    """The uses that count in one view. `generation`: something else whenever `counts` or `is_current` may change."""

    def __init__(
        self,
        newest: Callable[[], SearchUses],
        counts: Counts,
        is_current: IsCurrent,
        generation: Callable[[], object] = lambda: None,
    ) -> None:
        self._newest = newest
        self._uses = newest()
        self._counts = counts
        self._is_current = is_current
        self._generation = generation
        self._known: tuple[object, int] = (None, 0)
        self._version = 0
        self._counted: dict[str, bool] = {}
        self._shares: dict[UsedTool, tuple[int, Shares]] = {}

    def follow(self) -> int:
        """Take over what has changed. Returns a number that grows with every change."""
        uses = self._newest()
        now = (self._generation(), uses.version)
        if now != self._known or uses is not self._uses:
            self._version += 1
            if now[0] != self._known[0] or uses is not self._uses:
                self._counted.clear()
                self._shares.clear()
            self._known, self._uses = now, uses
        return self._version

    def tools(self, term: str) -> Mapping[ToolName, tuple[float, int]]:
        """Return the tools that have learned a term: for each its share, and how many terms it has learned."""
        found: dict[ToolName, tuple[float, int]] = {}
        for tool in self._uses.tools_saying(term):
            shares = self.shares(tool)
            if term in shares:
                found[tool.server, tool.name] = (shares[term], len(shares))
        return found

    def shares(self, tool: UsedTool) -> Shares:
        """Return the words that a tool has learned, with how much each counts."""
        version = self._uses.version_of(tool)
        kept = self._shares.get(tool)
        if kept is None or kept[0] != version:
            kept = self._shares[tool] = (version, self._learned(tool) if self._is_current(tool) else {})
        return kept[1]

    def callers(self, tool: UsedTool) -> Mapping[str, frozenset[str]]:
        """Return the callers whose searches count for a tool, each with all words of these searches."""
        return {
            caller: frozenset(stem for stems in said for stem in stems)
            for caller, said in self._uses.searches_for(tool)
            if self._does_count(caller)
        }

    def _learned(self, tool: UsedTool) -> Shares:
        searches, callers = Counter[str](), Counter[str]()
        for caller, said in self._uses.searches_for(tool):
            if self._does_count(caller):
                searches.update(stem for stems in said for stem in stems)
                callers.update({stem for stems in said for stem in stems})
        most = len(SHARES) - 1
        return {stem: SHARES[min(callers[stem], most)] for stem, times in searches.items() if times >= FEWEST}

    def _does_count(self, caller: str) -> bool:
        counted = self._counted.get(caller)
        if counted is None:
            counted = self._counted[caller] = self._counts(caller)
        return counted
