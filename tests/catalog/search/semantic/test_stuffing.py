"""Whatever a hostile tool says or means, meaning lifts it over nothing that words have found better."""

import random
from collections.abc import Callable

import pytest

from mcpguard.catalog.search.prepared_tools import prepare_server
from mcpguard.catalog.search.search import RESCORED
from mcpguard.catalog.search.semantic.tool_vectors import meaning_text
from mcpguard.catalog.search.stopwords import STOP
from mcpguard.catalog.search.words import words
from tests.catalog.search.golden.golden import queries, servers
from tests.catalog.search.offers import Tool, keys, tool
from tests.catalog.search.semantic.meanings import Meant, vector

ASKED = random.Random(2).sample([query.text for query in queries()], 40)  # noqa: S311 - the same ones in every run


def glued(query: str) -> Tool:
    """What pieces of words make out, and words do not."""
    return tool("zorb", "".join(words(query)))


def sentence(query: str) -> Tool:
    return tool("zorb", query)


def fifteen(query: str) -> Tool:
    """The words of the query, and of others, in every weighty place."""
    many = list(dict.fromkeys(word for text in (query, *ASKED) for word in words(text) if word not in STOP))[:15]
    return tool("_".join(many[:4]), ". ".join(many), title=" ".join(many))


@pytest.fixture(scope="module")
def among() -> Meant:
    return Meant(servers())


def offer(among: Meant, one: Tool, meant: str) -> str:
    """Put a hostile tool among the others, as one that means this."""
    among.view._index.set_server(prepare_server("evil", [one]))
    key, text = f"evil:{one['name']}", meaning_text("evil", one)
    among.texts[key] = text
    among.vectors.put({text: vector(meant)})
    return key


@pytest.mark.parametrize("means", ["itself", "the query"])
@pytest.mark.parametrize("making", [glued, sentence, fifteen])
def test_meaning_lifts_no_stuffed_tool_that_words_have_not_found(
    making: Callable[[str], Tool], means: str, among: Meant
) -> None:
    """Among the candidates it may rise. `means`: what its vector is; that of the query is the best it could have."""
    for query in ASKED:
        key = offer(among, making(query), making(query)["description"] if means == "itself" else query)
        candidates, found = keys(among.view, query, RESCORED), among.keys(query, 5)
        assert len(found) == min(5, len(candidates))
        assert key in candidates or key not in found


def test_of_what_is_glued_together_words_find_nothing_and_so_nothing_does(among: Meant) -> None:
    several = [query for query in ASKED if len(words(query)) > 3]
    assert len(several) > 10
    for query in several:
        key = offer(among, glued(query), query)
        assert key not in among.keys(query, 100)


def test_a_stuffed_tool_gains_little_by_meaning(among: Meant) -> None:
    """The first five have it for as many queries as by words alone, give or take a few."""
    by_words = by_both = 0
    for query in ASKED:
        key = offer(among, fifteen(query), fifteen(query)["description"])
        by_words += key in keys(among.view, query, 5)
        by_both += key in among.keys(query, 5)
    assert by_both <= by_words + len(ASKED) // 20
