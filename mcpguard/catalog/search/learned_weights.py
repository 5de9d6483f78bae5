"""How much the words that tools have learned count in each of them: one more field beside those of its definition."""

from collections.abc import Mapping
from typing import Final, Protocol

from mcpguard.catalog.search.fields import SEARCHES
from mcpguard.catalog.search.index import NOTHING, Index, Weights
from mcpguard.catalog.search.prepared_tools import with_field

ToolName = tuple[str, str]
"""A tool by the name of its server and its own."""
_MOST_KEPT: Final = 20_000


class LearnedWords(Protocol):
    """What use has taught of tools, as far as one view may know it."""

    def follow(self) -> int:
        """Take over what has changed. Returns a number that grows with every change."""
        ...

    def tools(self, term: str) -> Mapping[ToolName, tuple[float, int]]:
        """Return the tools that have learned a term: for each its share, from 0 to 1, and how many terms it has
        learned."""
        ...


class LearnedWeights:
    """The weights of learned words in the tools of an index, as one view may know them."""

    def __init__(self, index: Index, words: LearnedWords) -> None:
        self._index = index
        self._words = words
        self._version = (-1, -1)
        self._weights: dict[str, Weights] = {}

    def follow(self) -> None:
        """Take over what has changed since the last search."""
        version = (self._index.version, self._words.follow())
        if version != self._version or len(self._weights) >= _MOST_KEPT:
            self._weights.clear()
            self._version = version

    def weights(self, term: str) -> Weights:
        """Return the tools that have learned a term, and how much it counts in each, its texts included."""
        weights = self._weights.get(term)
        if weights is None:
            weights = self._weights[term] = self._look_up(term)
        return weights

    def _look_up(self, term: str) -> Weights:
        if not (tools := self._words.tools(term)):
            return NOTHING
        shelves, before, weights = self._index.shelves, self._index.weights(term), dict[int, float]()
        for (server, name), (share, length) in tools.items():
            number = shelves[server].numbers.get(name) if server in shelves else None
            if number is not None:
                weights[number] = with_field(before.get(number, 0.0), SEARCHES, share, length)
        return weights
