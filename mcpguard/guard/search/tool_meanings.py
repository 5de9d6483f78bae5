"""Ranks what a search found by meaning as well, where the setting `search.semantic` is on.

Rules kept here:
1. Vectors are computed in threads: those of tools in one, a few at a time, and that of a query in another, which never
   waits for tools. Both are milliseconds of arithmetic, during which the event loop goes on.
2. Servers take turns, so that one with very many tools does not keep others waiting.
3. Only the thread of the event loop changes what is kept, and not while another looks what is missing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from anyio import CapacityLimiter, to_thread

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.search.english_query import in_english
from mcpguard.catalog.search.search import FoundTool
from mcpguard.catalog.search.semantic.mixed_scores import mixed_scores
from mcpguard.catalog.search.semantic.model_weights import Array
from mcpguard.catalog.search.semantic.sentence_model import SentenceModel
from mcpguard.catalog.search.semantic.tool_vectors import ToolVectors, meaning_text
from mcpguard.catalog.shelf import CatalogEntry
from mcpguard.domain.capabilities import CapabilityKind

AT_ONCE: Final = 8
"""Tools whose vectors are computed before it is looked whether the catalog has changed."""


class ToolMeanings:
    """The vectors of all tools, and the model that makes them."""

    def __init__(self, model: SentenceModel) -> None:
        self._model = model
        self._vectors = ToolVectors()
        self._of_tools, self._of_queries = CapacityLimiter(1), CapacityLimiter(1)

    async def of_query(self, query: str) -> Array:
        """Return the vector of a query."""
        return await to_thread.run_sync(self._vector_in_english, query, limiter=self._of_queries)

    async def follow(self, servers: Mapping[str, Mapping[str, CatalogEntry]], is_behind: Callable[[], bool]) -> None:
        """Make the vectors that these servers' tools do not have yet, and drop others, until the catalog changes."""
        missing, gone = await to_thread.run_sync(self._compare, servers, limiter=self._of_tools)
        self._vectors.drop(gone)
        for at in range(0, len(missing), AT_ONCE):
            if is_behind():
                return
            some = missing[at : at + AT_ONCE]
            self._vectors.put(await to_thread.run_sync(self._compute, some, limiter=self._of_tools))

    def scores(self, query: Array, catalog: Catalog, found: Sequence[FoundTool]) -> list[float]:
        """Return the scores by words and meaning of what a search found by words."""
        entries = [catalog.find(each.server, CapabilityKind.TOOL, each.name) for each in found]
        texts = ["" if each is None else meaning_text(each.capability.server, each.definition) for each in entries]
        return mixed_scores(found, self._vectors.likenesses(query, texts))

    def _vector_in_english(self, query: str) -> Array:
        return self._model.vector(in_english(query))

    def _compare(self, servers: Mapping[str, Mapping[str, CatalogEntry]]) -> tuple[list[str], list[str]]:
        numbered = [
            (number, meaning_text(server, each.definition))
            for server, tools in servers.items()
            for number, each in enumerate(tools.values())
        ]
        numbered.sort(key=lambda each: each[0])
        return self._vectors.compare(text for _, text in numbered)

    def _compute(self, texts: Sequence[str]) -> dict[str, Array]:
        return {text: self._model.vector(text) for text in texts}
