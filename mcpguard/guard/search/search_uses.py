"""What is known of how searches were used: after which searches a tool was called, and by which callers.

Rules kept here:
1. It is a fold over records, in their order. The newest uses are kept: `MOST_OF_TOOL` of one caller and tool,
   `MOST_OF_CALLER` of one caller, so that none crowds out the others, and `MOST` of all.
2. A use belongs to the definition that was called. Of any other, nothing is known.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from mcpguard.catalog.search.query import telling_words
from mcpguard.catalog.search.stems import stem

MOST: Final = 20_000
MOST_OF_CALLER: Final = 1_000
MOST_OF_TOOL: Final = 100
DAY: Final = 86_400 * 1_000_000
CUT: Final = "…"
"""The end of a query of which only the beginning is recorded."""


@dataclass(frozen=True, slots=True)
class UsedTool:
    """A tool in the version that was called. `upstream`: the id of its server, as another may get its name later."""

    server: str
    name: str
    upstream: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class SearchUse:
    """A search of a caller, after which it called a tool that the search had shown. `at`: when (UTC, microseconds)."""

    caller: str
    tool: UsedTool
    query: str
    at: int

    def words(self) -> str:
        """Return the query without a word that was cut."""
        query = self.query.removesuffix(CUT)
        return query if query == self.query else query.rpartition(" ")[0]

    def stems(self) -> frozenset[str]:
        """Return the stems of the words that say what was wanted. Any thread may call it."""
        return frozenset(map(stem, telling_words(self.words())))


Wanted = Callable[[SearchUse], bool]
K = TypeVar("K")
V = TypeVar("V")
W = TypeVar("W")


class SearchUses:
    """The uses of searches, by tool and caller."""

    def __init__(self) -> None:
        self.version = 0
        """Grows with every change."""
        self._all: dict[SearchUse, frozenset[str]] = {}
        self._of_caller: dict[str, dict[SearchUse, None]] = {}
        self._of_tool: dict[UsedTool, dict[str, dict[str, SearchUse]]] = {}
        self._saying: dict[str, dict[UsedTool, int]] = {}
        self._versions: dict[UsedTool, int] = {}

    def __len__(self) -> int:
        return len(self._all)

    def is_known(self, use: SearchUse) -> bool:
        """Tell whether the same caller has used the same query for the same tool within the day before."""
        same = self._same(use)
        return same is not None and use.at - same.at < DAY

    def add(self, use: SearchUse, stems: frozenset[str]) -> None:
        """Add a use, the newest of all, with the stems of its query. One of the same query is replaced."""
        if same := self._same(use):
            self._remove(same)
        here, mine = self._of_tool.get(use.tool, {}).get(use.caller, {}), self._of_caller.get(use.caller, {})
        if len(here) >= MOST_OF_TOOL:
            self._remove(next(iter(here.values())))
        elif len(mine) >= MOST_OF_CALLER:
            self._remove(next(iter(mine)))
        elif len(self._all) >= MOST:
            self._remove(next(iter(self._all)))
        self._put(use, stems)

    def forget(self, wanted: Wanted) -> None:
        """Forget the uses of which this is true."""
        for use in [use for use in self._all if wanted(use)]:
            self._remove(use)

    def tools_saying(self, term: str) -> Iterator[UsedTool]:
        """Yield the tools that were called after a search with a word of this stem."""
        yield from self._saying.get(term, ())

    def version_of(self, tool: UsedTool) -> int:
        """Return a number that grows with every change of what is known of a tool."""
        return self._versions.get(tool, 0)

    def searches_for(self, tool: UsedTool) -> Iterator[tuple[str, frozenset[frozenset[str]]]]:
        """Yield the callers of a tool, each with the words of its different searches."""
        for caller, uses in self._of_tool.get(tool, {}).items():
            yield caller, frozenset(self._all[use] for use in uses.values())

    def queries_for(self, tool: UsedTool) -> Iterator[SearchUse]:
        """Yield the uses of searches for a tool."""
        for uses in self._of_tool.get(tool, {}).values():
            yield from uses.values()

    def _same(self, use: SearchUse) -> SearchUse | None:
        return self._of_tool.get(use.tool, {}).get(use.caller, {}).get(use.query)

    def _put(self, use: SearchUse, stems: frozenset[str]) -> None:
        self._all[use] = stems
        self._of_caller.setdefault(use.caller, {})[use] = None
        self._of_tool.setdefault(use.tool, {}).setdefault(use.caller, {})[use.query] = use
        for each in stems:
            tools = self._saying.setdefault(each, {})
            tools[use.tool] = tools.get(use.tool, 0) + 1
        self.version += 1
        self._versions[use.tool] = self.version

    def _remove(self, use: SearchUse) -> None:
        for each in self._all.pop(use):
            tools = self._saying[each]
            tools[use.tool] -= 1
            if not tools[use.tool]:
                del tools[use.tool]
            if not tools:
                del self._saying[each]
        _drop(self._of_caller, use.caller, use)
        _drop(self._of_tool[use.tool], use.caller, use.query)
        self.version += 1
        self._versions[use.tool] = self.version
        if not self._of_tool[use.tool]:
            del self._of_tool[use.tool], self._versions[use.tool]


def _drop(table: dict[K, dict[V, W]], outer: K, inner: V) -> None:
    """Remove one value of a table of tables, and the inner table with its last one."""
    del table[outer][inner]
    if not table[outer]:
        del table[outer]
