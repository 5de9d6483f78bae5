"""Meaning orders what words have found; it finds nothing itself, and what is hidden has no part in it."""

from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.catalog.search.prepared_tools import prepare_server
from mcpguard.catalog.search.search import FoundTool, View
from mcpguard.catalog.search.semantic import tool_vectors
from mcpguard.catalog.search.semantic.mixed_scores import mixed_scores
from mcpguard.catalog.search.semantic.model_weights import Array
from mcpguard.catalog.search.semantic.sentence_model import MOST_PIECES
from mcpguard.catalog.search.semantic.tool_vectors import ToolVectors, meaning_text
from mcpguard.catalog.search.semantic.word_pieces import CHARACTERS
from tests.catalog.search.offers import Tool, index, tool
from tests.catalog.search.semantic.meanings import Meant
from tests.tiers import examples

SERVERS = ("a", "b", "c")
word = st.sampled_from(["zorb", "quix", "plim", "drav", "wonk", "glup"])
tools = st.builds(tool, st.lists(word, min_size=1, max_size=2).map("_".join), st.lists(word, max_size=8).map(" ".join))
offers = st.dictionaries(st.sampled_from(SERVERS), st.lists(tools, max_size=5, unique_by=lambda one: one["name"]))
queries = st.lists(word, min_size=1, max_size=4).map(" ".join)
found = st.lists(
    st.builds(FoundTool, st.sampled_from(SERVERS), st.text(), st.floats(0.1, 100), st.booleans()), max_size=12
)
likeness = st.none() | st.floats(0, 1)


def anywhere(text: str) -> Array:
    """A direction that depends on a text, and on nothing that the text says."""
    drawn = np.random.default_rng(crc32(text.encode("utf-8", "surrogatepass"))).normal(size=8).astype(np.float32)
    return drawn / np.float32(np.linalg.norm(drawn))


def meant(offered: dict[str, list[Tool]], without: str = "") -> Meant:
    texts = {meaning_text(server, one) for server, listed in offered.items() for one in listed}
    return Meant(offered, {text: anywhere(text) for text in texts if not without or without not in text})


@given(offers, queries, st.sets(st.sampled_from(SERVERS)))
@settings(max_examples=examples(150), deadline=None)
def test_what_may_not_be_seen_might_as_well_not_exist(
    offered: dict[str, list[Tool]], query: str, seen: set[str]
) -> None:
    """The scores are the same to the last bit, whichever vectors are ready."""
    alone = {server: listed for server, listed in offered.items() if server in seen}
    view = View(index(offered), lambda server, _: server in seen)
    for without in ("", "quix"):
        among, few = meant(offered, without), meant(alone, without)
        assert among.found(query, anywhere(query), view=view) == few.found(query, anywhere(query))


@given(found.flatmap(lambda some: st.tuples(st.just(some), st.lists(likeness, min_size=len(some), max_size=len(some)))))
@settings(max_examples=examples(300), deadline=None)
def test_every_candidate_has_a_score_and_none_more_than_the_best_by_words(
    ranked: tuple[list[FoundTool], list[float | None]],
) -> None:
    candidates, likenesses = ranked
    scores, most = mixed_scores(candidates, likenesses), max((each.score for each in candidates), default=0.0)
    assert len(scores) == len(candidates)
    assert all(0 < score <= most * (1 + 1e-9) for score in scores)


@given(offers, queries)
@settings(max_examples=examples(150), deadline=None)
def test_the_same_is_found_in_another_order_and_names_stay_first(offered: dict[str, list[Tool]], query: str) -> None:
    among = meant(offered)
    by_words, by_both = among.view.search(query, 100), among.found(query, anywhere(query), limit=100)
    assert {(each.server, each.name, each.exact) for each in by_both} == {
        (each.server, each.name, each.exact) for each in by_words
    }
    exact = [each for each in by_words if each.exact]
    assert [(each.server, each.name) for each in by_both[: len(exact)]] == [(each.server, each.name) for each in exact]


def test_no_copy_comes_before_its_original_by_meaning() -> None:
    """What the copy says besides may be as near to the query as can be."""
    original = tool("create_issue", "Create an issue in a repository, with a title and labels.")
    offered = {"hub": [original, tool("list_issues", "List issues of a repository.")], "evil": [original]}
    among, query = meant(offered), "open an issue in the repository"
    among.view._index.set_server(prepare_server("evil", [original], {"create_issue": 1}))
    among.vectors.put({meaning_text("evil", original): anywhere(query)})
    keys = [f"{each.server}:{each.name}" for each in among.found(query, anywhere(query))]
    assert keys.index("hub:create_issue") < keys.index("evil:create_issue")


def test_without_vectors_the_scores_stay() -> None:
    candidates = [FoundTool("a", "x", 3.0), FoundTool("a", "y", 3.0), FoundTool("b", "z", 1.0)]
    assert mixed_scores(candidates, [None, None, None]) == [3, 3, 1]
    assert mixed_scores([], []) == []


def test_who_has_no_vector_neither_gains_nor_loses_by_that() -> None:
    by_words = [FoundTool("a", name, 2.0) for name in ("x", "late", "y")]
    assert mixed_scores(by_words, [0.8, None, 0.2]) == pytest.approx([2.0, 1.6625, 1.325])


def test_of_a_query_that_the_model_does_not_know_the_scores_change_little() -> None:
    by_words = [FoundTool("a", "x", 2.0), FoundTool("a", "y", 1.0)]
    known, unknown = mixed_scores(by_words, [0.0, 0.8]), mixed_scores(by_words, [0.0, 0.1])
    assert known == pytest.approx([1.1, 1.45])
    assert unknown == pytest.approx([1.1, 0.775])


def test_what_words_have_not_found_is_not_lifted_by_the_most_alike_meaning() -> None:
    """The best that a hostile tool could write: its vector is that of the query."""
    evil = tool("zorb", "Quix plim drav.")
    offered = {"a": [tool("send_mail", "Send a mail to people."), tool("read_mail", "Read mail.")], "evil": [evil]}
    among, query = meant(offered), "send an e-mail message"
    among.vectors.put({meaning_text("evil", evil): anywhere(query)})
    assert {each.server for each in among.found(query, anywhere(query), limit=100)} == {"a"}
    assert "evil" in {each.server for each in among.found(f"{query} zorb", anywhere(query), limit=100)}


def test_only_so_many_vectors_are_kept_and_the_first_stay() -> None:
    vectors = ToolVectors()
    many = [f"tool {number}" for number in range(tool_vectors.MOST_VECTORS + 5)]
    missing, gone = vectors.compare([*many, *many])
    assert missing == many[:-5]
    assert gone == []
    vectors.put(dict.fromkeys(missing, anywhere("")))
    assert vectors.compare([*reversed(many)]) == ([], [])
    assert vectors.compare(many[1:]) == ([many[-5]], [many[0]])
    vectors.drop([many[0]])
    assert vectors.likenesses(anywhere(""), [many[0]]) == [None]


def test_a_tool_is_meant_by_its_names_and_the_beginning_of_its_description() -> None:
    assert meaning_text("my-hub", tool("createIssue", "Opens one.", title="New issue")) == (
        "my hub create Issue New issue: Opens one."
    )
    assert meaning_text("hub", {"name": 7, "description": ["x"], "title": None}) == "hub"
    assert len(meaning_text("hub", tool("x" * 10**6, "y" * 10**6, title="z" * 10**6))) <= MOST_PIECES * CHARACTERS
