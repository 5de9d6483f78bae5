"""Whatever is offered or asked: it is bounded, and it pushes nothing else aside."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from mcpguard.catalog.search.prepared_tools import MOST_FORMS, MOST_TERMS, prepare_server
from mcpguard.catalog.search.query import MOST_GUESSED, MOST_WORDS, read_query
from mcpguard.catalog.search.search import View
from mcpguard.catalog.search.stopwords import ASKING, STOP
from mcpguard.catalog.search.words import words
from tests.catalog.search.golden.golden import queries, servers
from tests.catalog.search.offers import index, keys, tool

MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    "making",
    [
        lambda: "a" * MEGABYTE,
        lambda: "a b " * (MEGABYTE // 4),
        lambda: "aB" * (MEGABYTE // 2),
        lambda: "a'" * (MEGABYTE // 2),
        lambda: " \n" * (MEGABYTE // 2),
        lambda: "".join(chr(0x4E00 + at % 20_000) for at in range(MEGABYTE)),
        lambda: " ".join(f"w{chr(97 + at % 26)}{at}" for at in range(MEGABYTE // 8)),
        lambda: "\u200b\u202e" * (MEGABYTE // 2),
        lambda: "\ufdfa" * (MEGABYTE // 10),
        lambda: "!" * MEGABYTE,
    ],
    ids=range(10),
)
def test_of_what_is_huge_a_bounded_part_is_looked_at(making: Callable[[], str]) -> None:
    text = making()
    parameters = {f"{text[:100]}{at}": {"description": text} for at in range(300)}
    one = tool(f"x{text}", text, title=text, inputSchema={"properties": parameters})
    made = prepare_server("huge", [one])
    (document,) = made.documents.values()
    assert len(document.weights) <= MOST_TERMS
    assert len(made.forms) <= MOST_FORMS
    assert len(read_query(text, View(index({"huge": [one]}), None))) <= 3 * MOST_WORDS


def test_a_schema_without_end_is_looked_at_in_part() -> None:
    schema: dict[str, Any] = {"properties": {}}
    schema["properties"]["again"] = schema
    schema["items"] = schema
    assert "again" in prepare_server("a", [tool("x", inputSchema=schema)]).documents["x"].weights
    deep: dict[str, Any] = {}
    for _ in range(sys.getrecursionlimit() * 2):
        deep = {"properties": {"in": deep}}
    assert prepare_server("a", [tool("x", inputSchema=deep)]).documents["x"].weights


def test_a_long_query_is_cut() -> None:
    made = View(index({"a": [tool("zorb", "Zorb.")]}), None)
    assert keys(made, "filler " * 300 + "zorb") == []
    assert keys(made, "zorb " + "filler " * 10_000) == ["a:zorb"]
    many = " ".join(f"word{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(MOST_WORDS))
    assert keys(made, f"{many} zorb") == []


def test_of_few_words_is_the_language_guessed() -> None:
    made = View(index({"a": [tool("file", "A file.")]}), None)
    unknown = [f"qxj{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(MOST_GUESSED)]
    assert keys(made, " ".join([*unknown[1:], "datei"])) == ["a:file"]
    assert keys(made, " ".join([*unknown, "datei"])) == []


def test_many_words_one_letter_apart_are_looked_at_in_part() -> None:
    alike = " ".join(f"aaaa{chr(0x430 + one)}{chr(0x430 + other)}" for one in range(32) for other in range(32))
    made = View(index({"a": [tool("x", alike[:500])], "b": [tool("folder", "A folder.")]}), None)
    assert keys(made, "aaaaz foldre")[0] == "b:folder"


def popular() -> list[str]:
    """The words that the tools say most."""
    said_by_tools = Counter(
        word for tools in servers().values() for one in tools for word in set(words(one["description"])) - STOP
    )
    return [word for word, _ in sorted(said_by_tools.items(), key=lambda each: (-each[1], each[0]))[:150]]


def stuffed() -> Mapping[str, Mapping[str, Any]]:
    many = popular()
    parameters = {"properties": {word: {"description": word} for word in many}}
    text, name = " ".join(many), "_".join(many)[:120]
    return {
        "description": tool("best", text),
        "sentences": tool("best", ". ".join(many)),
        "said often": tool("best", " ".join(many * 5)),
        "parameters": tool("best", inputSchema=parameters),
        "title": tool("best", title=text),
        "name": tool(name),
        "everywhere": tool(name, text, title=text, inputSchema=parameters),
    }


@pytest.mark.parametrize("where", stuffed())
def test_a_tool_that_says_every_popular_word_is_found_by_almost_nobody(where: str) -> None:
    """Among some 570 tools it is among the first fifteen for at most one query in a hundred."""
    offered = {f"{server}{copy}": tools for copy in ("", "-two", "-three") for server, tools in servers().items()}
    one = stuffed()[where]
    made = View(index({**offered, "evil": [one]}), None)
    asked = [query.text for query in queries()]
    fooled = [query for query in asked if f"evil:{one['name']}" in keys(made, query)]
    assert len(fooled) <= len(asked) / 100, fooled


def asked_most(many: int) -> list[str]:
    """The words that queries have most: whoever knows them knows the best words to be found by."""
    spelt = [query.text for query in queries() if query.kind != "misspelt"]
    in_queries = Counter(word for text in spelt for word in set(words(text)) - STOP - ASKING)
    return [word for word, _ in sorted(in_queries.items(), key=lambda each: (-each[1], each[0]))[:many]]


@pytest.mark.parametrize("tools", [1, 20])
def test_fifteen_words_in_name_title_and_first_sentence_gain_nothing(tools: int) -> None:
    many = asked_most(15 * tools)
    some = [many[at * 15 : (at + 1) * 15] for at in range(tools)]
    evil = [tool("_".join(each), f"The {' '.join(each)} tool.", title=" ".join(each)) for each in some if each]
    offered = {f"{server}{copy}": listed for copy in ("", "-two", "-three") for server, listed in servers().items()}
    made = View(index({**offered, "evil": evil}), None)
    asked = [query.text for query in queries()]
    fooled = [query for query in asked if any(key.startswith("evil:") for key in keys(made, query, 5))]
    assert len(fooled) <= len(asked) / 50, fooled


@pytest.mark.parametrize("tools", [1, 20])
def test_fifteen_words_in_a_title_gain_nothing(tools: int) -> None:
    many = asked_most(15 * tools)
    some = [many[at * 15 : (at + 1) * 15] for at in range(tools)]
    evil = [tool(f"best{at}", ". ".join(each), title=" ".join(each)) for at, each in enumerate(some) if each]
    offered = {f"{server}{copy}": listed for copy in ("", "-two", "-three") for server, listed in servers().items()}
    made = View(index({**offered, "evil": evil}), None)
    asked = [query.text for query in queries()]
    fooled = [query for query in asked if any(key.startswith("evil:") for key in keys(made, query, 5))]
    assert len(fooled) <= len(asked) / 50, fooled


def test_a_title_of_a_few_words_costs_nothing() -> None:
    plain = tool("forecast", "Show the weather.")
    six = {**plain, "title": "Weather forecast for cities, hour by hour"}
    (alone,), (titled,) = (View(index({"sky": [each]}), None).search("weather", 1) for each in (plain, six))
    assert titled.score > alone.score


def test_words_that_stand_alone_gain_nothing_by_that() -> None:
    alone = tool("best", "Weather. Forecast. Rain. Wind. Sun. Storm. Snow. Fog.")
    honest = tool("forecast", "Show the weather forecast of a city for the next days.")
    assert (
        keys(View(index({"evil": [alone], "sky": [honest]}), None), "weather forecast of a city")[0] == "sky:forecast"
    )
