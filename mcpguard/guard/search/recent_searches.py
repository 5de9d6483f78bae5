"""The last searches of each caller, with what they showed, so that a call can be paired with the search before it.

They are kept in memory: the newest `MOST_OF_CALLER` of a caller, for `SECONDS`, of at most `MOST_CALLERS` callers.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mcpguard.catalog.search.learned_weights import ToolName
from mcpguard.domain.clock import Clock

MOST_OF_CALLER: Final = 8
MOST_CALLERS: Final = 1_000
SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class ShownSearch:
    """A search, and the tools that its answer showed. `at`: seconds of a clock that is never set."""

    query: str
    shown: frozenset[ToolName]
    at: float


class RecentSearches:
    """What callers searched for a short while ago."""

    def __init__(self, clock: Clock) -> None:
        self._monotonic = clock.monotonic
        self._of: OrderedDict[str, deque[ShownSearch]] = OrderedDict()

    def add(self, caller: str, query: str, shown: Iterable[ToolName]) -> None:
        """Remember a search with the tools that it showed."""
        mine = self._of.setdefault(caller, deque(maxlen=MOST_OF_CALLER))
        mine.append(ShownSearch(query, frozenset(shown), self._monotonic()))
        self._of.move_to_end(caller)
        if len(self._of) > MOST_CALLERS:
            self._of.popitem(last=False)

    def query_before(self, caller: str, tool: ToolName) -> str | None:
        """Return the newest query of a caller for which this tool was shown."""
        searches = self._of.get(caller)
        if searches is None:
            return None
        since = self._monotonic() - SECONDS
        return next((one.query for one in reversed(searches) if one.at >= since and tool in one.shown), None)

    def end_caller(self, caller: str) -> None:
        """Forget the searches of a caller."""
        self._of.pop(caller, None)
