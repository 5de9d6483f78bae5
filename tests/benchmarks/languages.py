"""`python -m tests.benchmarks.languages DIR…`: how well tools are found by queries in other languages than English.

The queries, each in six languages, were written by two authors who had seen tools and no lists of words
(`language_queries`). They are for our own golden set and for tools of published sets, of which each DIR has one, with
`tools.jsonl` as for `search`. Queries for tools that are in none are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer
from rich.console import Console

from mcpguard.catalog.search.semantic.sentence_model import SentenceModel
from tests.benchmarks import search_meaning
from tests.benchmarks.report import Row, Sheet, show
from tests.benchmarks.search import GOLDEN, Folder, Search, read_folder, searching_words, view_of

QUERIES: Final = Path(__file__).parent / "language_queries"
LANGUAGES: Final = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "ja": "Japanese", "zh": "Chinese"}
FIRST: Final = 5


def main(folders: Annotated[list[Path] | None, typer.Argument(metavar="DIR…", help="Sets of tools.")] = None) -> None:
    """Print the share of queries for which a right tool is among the first five and comes first, by language."""
    tools = [tool for place in (GOLDEN, *(folders or ())) for tool in read_folder(place).tools]
    queries = list(_for(tools))
    folder = Folder("all", tools, ())
    by = {"words": searching_words(folder)}
    model = search_meaning.model_here()
    if isinstance(model, SentenceModel):
        by["meaning"] = search_meaning.searching(model, view_of(folder), tools, FIRST)
    console = Console()
    for name, search in by.items():
        rows = [Row({"language": said}, _found(search, queries, short)) for short, said in LANGUAGES.items()]
        show(Sheet(f"by {name}", f"{len(queries)} queries each, {len(tools)} tools", rows), console)


def _for(tools: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    known = {f"{tool['server']}:{tool['name']}" for tool in tools}
    for file in sorted(QUERIES.glob("*.jsonl")):
        yield from (query for query in map(orjson.loads, file.read_bytes().splitlines()) if query["tool"] in known)


def _found(search: Search, queries: Sequence[Mapping[str, Any]], language: str) -> dict[str, float]:
    found = [(search(query[language]), query["relevant"]) for query in queries]
    first = sum(some[:1] != [] and some[0] in right for some, right in found)
    among = sum(not set(right).isdisjoint(some[:FIRST]) for some, right in found)
    return {"first": first / len(found), "among five": among / len(found)}


if __name__ == "__main__":
    typer.run(main)
