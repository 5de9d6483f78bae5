"""`python -m tests.benchmarks.search DIR…`: how well tools are found, one line of JSON for each folder.

A folder has `tools.jsonl` (`{server, name, description, inputSchema}`) and `queries.jsonl` (`{query, relevant,
grades?}`, where `relevant` has `server:name` each). `make bench-search` prints tables instead (`--table`): our own
golden set and the folders beside what a plain BM25 finds in them, what others were measured at, and what it costs, in
tokens for an agent and in time for the guard.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]
from rich.console import Console

from mcpguard.catalog.search.index import Index
from mcpguard.catalog.search.prepared_tools import prepare_server
from mcpguard.catalog.search.search import View
from mcpguard.catalog.search.semantic.sentence_model import SentenceModel
from tests.benchmarks import search_costs, search_learning, search_meaning, search_tokens
from tests.benchmarks.report import Row, Sheet, as_json, machine, show
from tests.benchmarks.retrieval import RANKS, figures

GOLDEN: Final = Path(__file__).parent.parent / "catalog/search/golden"
ELSEWHERE: Final = (
    ("rank-bm25 as it comes, name and description", (0.278, 0.486, 0.560, 0.614, 0.439, 0.435)),
    ("mcpproxy-go (Bleve)", (0.289, 0.548, 0.652, 0.697, 0.474, 0.486)),
    ("FastMCP 4's BM25", (0.347, 0.571, 0.684, 0.730, 0.525, 0.526)),
    ("BM25F with good text, which ours is made after", (0.403, 0.683, 0.764, 0.798, 0.606, 0.613)),
)
"""Means over five sets of MCP tools, measured in 2026: R@1, R@5, R@10, R@15, MRR, nDCG@10."""
MOST: Final = max(RANKS)
Search = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Folder:
    """Tools, and queries for which some of them are right."""

    name: str
    tools: Sequence[Mapping[str, Any]]
    queries: Sequence[Mapping[str, Any]]

    def measured(self, search: Search) -> dict[str, float]:
        return figures((search(query["query"]), _grades(query)) for query in self.queries)


def main(
    folders: Annotated[list[Path] | None, typer.Argument(metavar="DIR…", help="Default: our own golden set.")] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the figures of the tables there too.")
    ] = None,
    table: Annotated[bool, typer.Option("--table", help="Print tables, with anchors and costs.")] = False,
) -> None:
    """Measure recall, mean reciprocal rank and nDCG of the search behind retrieve_tools."""
    if not table:
        for folder in map(read_folder, folders or [GOLDEN]):
            typer.echo(orjson.dumps({**_about(folder), **folder.measured(searching_words(folder))}))
        return
    console = Console()
    console.width = max(console.width, 150)
    sheets = []
    for sheet in _sheets([read_folder(path) for path in (GOLDEN, *(folders or ()))]):
        show(sheet, console)
        sheets.append(sheet)
    if json is not None:
        json.write_bytes(as_json(machine(), sheets))


def read_folder(path: Path) -> Folder:
    tools, queries = (
        [orjson.loads(line) for line in (path / name).open("rb") if line.strip()]
        for name in ("tools.jsonl", "queries.jsonl")
    )
    return Folder(path.name or path.resolve().name, tools, queries)


def _about(folder: Folder) -> dict[str, str | int]:
    return {"folder": folder.name, "tools": len(folder.tools), "queries": len(folder.queries)}


def _grades(query: Mapping[str, Any]) -> Mapping[str, float]:
    grades = query.get("grades") or {}
    return {key: grades.get(key, 1) for key in query["relevant"]}


def view_of(folder: Folder) -> View:
    servers: dict[str, list[Mapping[str, Any]]] = {}
    for tool in folder.tools:
        servers.setdefault(tool["server"], []).append(tool)
    index = Index()
    for server, tools in servers.items():
        index.set_server(prepare_server(server, tools))
    return View(index, None)


def searching_words(folder: Folder) -> Search:
    view = view_of(folder)
    return lambda query: [f"{found.server}:{found.name}" for found in view.search(query, MOST)]


def _plain(folder: Folder) -> Search:
    """rank-bm25 as it comes."""
    texts = [f"{tool['name']} {tool.get('description') or ''}".lower().split() for tool in folder.tools]
    keys = [f"{tool['server']}:{tool['name']}" for tool in folder.tools]
    bm25 = BM25Okapi(texts)
    return lambda query: list(bm25.get_top_n(query.lower().split(), keys, MOST))


def _sheets(folders: Sequence[Folder]) -> Iterator[Sheet]:
    rows = []
    model = search_meaning.model_here()
    for folder in folders:
        rows.append(Row({**_about(folder), "by": "mcpguard"}, folder.measured(searching_words(folder))))
        if isinstance(model, SentenceModel):
            search = search_meaning.searching(model, view_of(folder), folder.tools, MOST)
            rows.append(Row({**_about(folder), "by": "mcpguard, semantic"}, folder.measured(search)))
        rows.append(Row({**_about(folder), "by": "rank-bm25 as it comes"}, folder.measured(_plain(folder))))
    without = f"; without the extra semantic: {model}" if isinstance(model, str) else ""
    about = f"share of the right tools among the first, and rank of the first right one{without}"
    yield Sheet("retrieval", about, rows)
    golden = folders[0]
    kinds = dict.fromkeys(query["kind"] for query in golden.queries)
    search = searching_words(golden)
    by_kind = [(kind, [query for query in golden.queries if query["kind"] == kind]) for kind in kinds]
    yield Sheet(
        "golden set",
        "our own queries for our own tools, by kind",
        [Row({"kind": kind, "queries": len(some)}, Folder(kind, (), some).measured(search)) for kind, some in by_kind],
    )
    names = list(rows[0].figures)
    anchors = [Row({"by": name}, dict(zip(names, values, strict=True))) for name, values in ELSEWHERE]
    yield Sheet("anchors", "what was measured elsewhere, on other tools: means over five sets of MCP tools", anchors)
    yield search_tokens.sheet([(_about(each), each.tools, [one["query"] for one in each.queries]) for each in folders])
    yield search_learning.sheet([(_about(each), each.tools, each.queries) for each in folders])
    tools = [tool for folder in folders for tool in folder.tools]
    asked = [query["query"] for folder in folders for query in folder.queries]
    yield from search_costs.sheets(tools, asked)
    if isinstance(model, SentenceModel):
        yield search_meaning.sheet(model, tools, asked)


if __name__ == "__main__":
    typer.run(main)
