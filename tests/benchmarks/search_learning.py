"""What search learns from use, cross-validated: half of a folder's queries teach, the other half are asked.

Queries are dealt to a few callers, who each call the first right tool that a search shows them. A tool has history if
one of its words was learned. Each figure is the mean of both halves.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mcpguard.catalog.search.index import Index
from mcpguard.catalog.search.prepared_tools import prepare_server
from mcpguard.catalog.search.search import View
from mcpguard.guard.search.counted_uses import CountedUses
from mcpguard.guard.search.search_uses import SearchUse, SearchUses, UsedTool
from tests.benchmarks.report import Row, Sheet

CALLERS: Final = (1, 3)
SHOWN: Final = 15
Query = Mapping[str, Any]
About = Mapping[str, str | int]


def sheet(folders: Sequence[tuple[About, Sequence[Mapping[str, Any]], Sequence[Query]]]) -> Sheet:
    rows = [
        Row({**about, "callers": callers}, _figures(tools, queries, callers))
        for about, tools, queries in folders
        for callers in CALLERS
    ]
    what = "R@15 of queries whose right tools were called after other searches (history), and of the others"
    return Sheet("learning from use", what, rows)


def _figures(tools: Sequence[Mapping[str, Any]], queries: Sequence[Query], callers: int) -> dict[str, float]:
    halves = queries[::2], queries[1::2]
    judged = [each for teach, ask in (halves, halves[::-1]) for each in _halved(tools, teach, ask, callers)]
    history, none = [each for each in judged if each[0]], [each for each in judged if not each[0]]
    return {
        "all before": _mean([each[1] for each in judged]),
        "all after": _mean([each[2] for each in judged]),
        "with history": float(len(history)),
        "history before": _mean([each[1] for each in history]),
        "history after": _mean([each[2] for each in history]),
        "others before": _mean([each[1] for each in none]),
        "others after": _mean([each[2] for each in none]),
    }


def _halved(
    tools: Sequence[Mapping[str, Any]], teach: Sequence[Query], ask: Sequence[Query], callers: int
) -> list[tuple[bool, float, float]]:
    """Return of each query that is asked whether a right tool has history, and its recall before and after."""
    uses, index = SearchUses(), _index(tools)
    counted = CountedUses(lambda: uses, lambda _: True, lambda _: True)
    before, after = View(index, None), View(index, None, counted)
    for number, query in enumerate(teach):
        shown = (f"{found.server}:{found.name}" for found in after.search(query["query"], SHOWN))
        called = next((key for key in shown if key in query["relevant"]), None)
        if called is not None:
            use = SearchUse(str(number % callers), _tool(called), query["query"][:200], number)
            uses.add(use, use.stems())
    return [
        (
            any(counted.shares(_tool(key)) for key in query["relevant"]),
            _recall(before, query),
            _recall(after, query),
        )
        for query in ask
    ]


def _index(tools: Sequence[Mapping[str, Any]]) -> Index:
    servers: dict[str, list[Mapping[str, Any]]] = {}
    for tool in tools:
        servers.setdefault(tool["server"], []).append(tool)
    index = Index()
    for server, its in servers.items():
        index.set_server(prepare_server(server, its))
    return index


def _tool(key: str) -> UsedTool:
    server, _, name = key.partition(":")
    return UsedTool(server, name, "", "")


def _recall(view: View, query: Query) -> float:
    found = {f"{each.server}:{each.name}" for each in view.search(query["query"], SHOWN)}
    return len(found & set(query["relevant"])) / len(query["relevant"])


def _mean(figures: Sequence[float]) -> float:
    return sum(figures) / len(figures) if figures else 0.0
