"""The model, loaded once; and searches that are ranked by it."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from mcpguard.catalog.search.english_query import in_english
from mcpguard.catalog.search.search import FoundTool, View
from mcpguard.catalog.search.semantic.mixed_scores import mixed_scores
from mcpguard.catalog.search.semantic.model_weights import Array
from mcpguard.catalog.search.semantic.sentence_model import SentenceModel
from mcpguard.catalog.search.semantic.tool_vectors import ToolVectors, meaning_text
from tests.catalog.search.offers import Tool, index


@cache
def model() -> SentenceModel:
    return SentenceModel.from_file()


@cache
def vector(text: str) -> Array:
    return model().vector(text)


class Meant:
    """Tools that are found by words and ranked by meaning as well."""

    def __init__(self, servers: Mapping[str, Iterable[Tool]], vectors: Mapping[str, Array] | None = None) -> None:
        listed = {server: list(tools) for server, tools in servers.items()}
        self.view = View(index(listed), None)
        self.texts = {
            f"{server}:{tool['name']}": meaning_text(server, tool) for server, tools in listed.items() for tool in tools
        }
        self.vectors = ToolVectors()
        self.vectors.put(vectors if vectors is not None else {text: vector(text) for text in self.texts.values()})

    def found(
        self, query: str, meaning: Array | None = None, limit: int = 15, view: View | None = None
    ) -> list[FoundTool]:
        query_vector = vector(in_english(query)) if meaning is None else meaning

        def scores(found: Sequence[FoundTool]) -> list[float]:
            texts = [self.texts[f"{each.server}:{each.name}"] for each in found]
            return mixed_scores(found, self.vectors.likenesses(query_vector, texts))

        return (view or self.view).search(query, limit, None, scores)

    def keys(self, query: str, limit: int = 15) -> list[str]:
        return [f"{each.server}:{each.name}" for each in self.found(query, limit=limit)]
