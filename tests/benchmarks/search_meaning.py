"""What ranking by meaning as well finds, and what it costs: the extra `semantic`."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from mcpguard.catalog.search.english_query import in_english
from mcpguard.catalog.search.search import FoundTool, View
from mcpguard.catalog.search.semantic.mixed_scores import mixed_scores
from mcpguard.catalog.search.semantic.model_weights import ModelRefused
from mcpguard.catalog.search.semantic.sentence_model import SentenceModel
from mcpguard.catalog.search.semantic.tool_vectors import ToolVectors, meaning_text
from tests.benchmarks.report import Row, Sheet, quantile

_SOME: Final = 200
_MEMORY: Final = """
import psutil
def used(): return psutil.Process().memory_info().rss
before = used()
from mcpguard.catalog.search.semantic.sentence_model import SentenceModel
model = SentenceModel.from_file()
model.vector("create an issue " * 20)
print((used() - before) / 2**20)
"""
Tool = Mapping[str, Any]
Search = Callable[[str], Sequence[str]]


def model_here() -> SentenceModel | str:
    """The model, or why there is none."""
    try:
        return SentenceModel.from_file()
    except ModelRefused as error:
        return str(error)


def searching(model: SentenceModel, view: View, tools: Sequence[Tool], limit: int) -> Search:
    """Search by words and meaning."""
    texts = {f"{tool['server']}:{tool['name']}": meaning_text(tool["server"], tool) for tool in tools}
    vectors = ToolVectors()
    vectors.put({text: model.vector(text) for text in texts.values()})

    def search(query: str) -> list[str]:
        meaning = model.vector(in_english(query))

        def scores(found: Sequence[FoundTool]) -> list[float]:
            return mixed_scores(
                found, vectors.likenesses(meaning, [texts[f"{each.server}:{each.name}"] for each in found])
            )

        return [f"{each.server}:{each.name}" for each in view.search(query, limit, None, scores)]

    return search


def sheet(model: SentenceModel, tools: Sequence[Tool], queries: Sequence[str]) -> Sheet:
    chosen = random.Random(1)  # noqa: S311 - the same ones in every run
    of_tools = [meaning_text(tool["server"], tool) for tool in chosen.sample(tools, min(_SOME, len(tools)))]
    of_queries = chosen.sample(queries, min(_SOME, len(queries)))
    figures: dict[str, float] = {}
    for name, texts in (("query", of_queries), ("tool", of_tools)):
        times = _times(model, texts)
        figures |= {f"{name}_p50": quantile(times, 0.5), f"{name}_p99": quantile(times, 0.99)}
    about = "ms of processor time for the vector of a query and of a tool, in a thread; MiB that the model takes"
    return Sheet("semantic", about, [Row({"by": "mcpguard, semantic"}, {**figures, "memory": _memory()})])


def _times(model: SentenceModel, texts: Sequence[str]) -> list[float]:
    times = []
    for text in texts:
        start = time.process_time()
        model.vector(text)
        times.append((time.process_time() - start) * 1000)
    return times


def _memory() -> float:
    """In a process of its own: here, other libraries are loaded already."""
    command = [sys.executable, "-c", _MEMORY]
    return float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
