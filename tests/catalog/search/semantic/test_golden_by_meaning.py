"""Our own queries find our own tools by words and meaning at least as well as by words alone, whatever their kind."""

import pytest

from tests.benchmarks.retrieval import figures
from tests.catalog.search.golden.golden import queries, servers
from tests.catalog.search.offers import keys
from tests.catalog.search.semantic.meanings import Meant


@pytest.fixture(scope="module")
def everything() -> Meant:
    return Meant(servers())


@pytest.mark.parametrize("kind", sorted({query.kind for query in queries()}))
def test_no_kind_of_query_is_answered_worse(kind: str, everything: Meant) -> None:
    some = [(query.text, dict.fromkeys(query.relevant, 1)) for query in queries() if query.kind == kind]
    by_words = figures((keys(everything.view, text), right) for text, right in some)
    by_both = figures((everything.keys(text), right) for text, right in some)
    # Put into English word by word, some foreign queries have their second right tool beyond the fifth place.
    kept = ("R@15", "MRR") if kind == "languages" else ("R@5", "R@15", "MRR")
    assert {name for name in kept if by_both[name] < by_words[name]} == set()


def test_more_is_found_among_the_first_five(everything: Meant) -> None:
    some = [(query.text, dict.fromkeys(query.relevant, 1)) for query in queries()]
    by_words = figures((keys(everything.view, text), right) for text, right in some)
    by_both = figures((everything.keys(text), right) for text, right in some)
    assert by_both["R@5"] >= by_words["R@5"] + 0.01


def test_paraphrased_queries_are_answered_better(everything: Meant) -> None:
    some = [(query.text, dict.fromkeys(query.relevant, 1)) for query in queries() if query.kind == "paraphrased"]
    by_words = figures((keys(everything.view, text), right) for text, right in some)
    by_both = figures((everything.keys(text), right) for text, right in some)
    assert by_both["MRR"] >= by_words["MRR"] + 0.04
