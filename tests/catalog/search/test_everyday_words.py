"""What people say in everyday words leads to tools that say it in others, and counts less than what tools say."""

from importlib.resources import files
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.catalog import search as search_package
from mcpguard.catalog.search.query import LONGEST
from mcpguard.catalog.search.ranking import MatchKind
from mcpguard.catalog.search.search import View
from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.thesaurus import (
    MOST_EXPRESSIONS,
    RELATED_WEIGHT,
    everyday_expressions,
    everyday_terms,
)
from mcpguard.catalog.search.words import words
from tests.catalog.search.offers import index, keys, tool
from tests.tiers import examples

TEXT = files(search_package).joinpath("lists", "everyday.txt").read_text("utf-8")
LINES: Final = [line for line in TEXT.splitlines() if not line.startswith("#")]
SAID: Final = [each.replace("_", " ") for line in LINES for each in line.split(": ")[0].split()]
OFFER = {
    "a": [
        tool("create_task", "Creates a task with a due date."),
        tool("get_forecast", "Returns the weather forecast of a place."),
        tool("delete_row", "Deletes a row."),
        tool("list_prices", "Lists prices of stocks."),
    ]
}


def test_every_line_says_what_is_said_and_which_words_of_tools_are_meant() -> None:
    for line in LINES:
        said, meant = line.split(": ")
        assert said.split(), line
        assert 1 <= len(meant.split()) <= 5, line
        assert all(word.isascii() and word.isalnum() for word in meant.split()), line


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("remind me that the ferns are thirsty", "a:create_task"),
        ("do I need an umbrella on Sunday", "a:get_forecast"),
        ("what is the heron company trading at", "a:list_prices"),
    ],
)
def test_everyday_words_find_tools_that_say_it_otherwise(query: str, found: str) -> None:
    assert keys(View(index(OFFER), None), query)[0] == found


def test_a_word_of_tools_counts_more_than_an_everyday_one() -> None:
    view = View(index({"a": [tool("get_forecast", "Returns it."), tool("buy_umbrella", "Buys it.")]}), None)
    assert keys(view, "umbrella")[0] == "a:buy_umbrella"


def test_an_explanation_names_the_expression() -> None:
    ((_, why), *_) = View(index(OFFER), None).explain("remind me of the ferns", 5, None).tools
    assert {(each.asked, each.match) for each in why.words} >= {("remind me", MatchKind.NEAR)}


@given(st.sampled_from(SAID))
@settings(max_examples=examples(300))
def test_what_is_meant_counts_less_than_what_is_said_and_never_is_it(said: str) -> None:
    asked = words(said)
    for expression, terms in everyday_expressions(asked):
        assert set(expression.split()) <= set(asked)
        assert all(0 < weight <= RELATED_WEIGHT for weight in terms.values())
    for word in asked:
        terms = everyday_terms(stem(word))
        assert stem(word) not in terms
        assert all(0 < weight <= RELATED_WEIGHT for weight in terms.values())


def test_each_of_several_words_is_found_in_a_query() -> None:
    for said in SAID:
        asked = words(said)
        if len(asked) > 1:
            assert " ".join(asked) in [expression for expression, _ in everyday_expressions(asked)], said


def test_a_query_that_is_nothing_but_expressions_is_bounded() -> None:
    said = words(" ".join(SAID)[:LONGEST])
    assert len([*everyday_expressions(said)]) == MOST_EXPRESSIONS
    assert [*everyday_expressions([])] == []


@given(st.lists(st.sampled_from(SAID), min_size=1, max_size=4).map(" ".join))
@settings(max_examples=examples(100), deadline=None)
def test_a_term_that_several_expressions_mean_counts_once(query: str) -> None:
    for _, why in View(index(OFFER), None).explain(query, 5, None).tools:
        of_expressions = [each.term for each in why.words if " " in each.asked]
        assert len(of_expressions) == len(set(of_expressions))
