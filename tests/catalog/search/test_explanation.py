"""Why a tool is found: its words with their points, which add up, and nothing of what may not be seen."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.catalog.search.fields import ToolPart
from mcpguard.catalog.search.index import Index
from mcpguard.catalog.search.learned_weights import ToolName
from mcpguard.catalog.search.prepared_tools import prepare_server
from mcpguard.catalog.search.ranking import MatchKind
from mcpguard.catalog.search.search import FoundTool, Rescore, View
from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.word_places import WordPlaces, find_places
from tests.catalog.search.offers import Tool, index, tool
from tests.tiers import examples

WORDS = "create issue list file delete remove show folder weather forecast zorb quix plim drav".split()  # noqa: SIM905
OTHERS = ("craete", "isue", "createissue", "wether", "datei", "löschen", "nonsuch", "`list_file`", "天气预报")
SERVERS = ("a", "b", "c")

word = st.sampled_from(WORDS)
prose = st.lists(word, max_size=8).map(" ".join)
tools = st.builds(tool, st.lists(word, min_size=1, max_size=2).map("_".join), prose)
offers = st.dictionaries(st.sampled_from(SERVERS), st.lists(tools, max_size=5))
queries = st.lists(st.one_of(word, st.sampled_from(OTHERS)), min_size=1, max_size=5).map(" ".join)


def indexed(offered: Mapping[str, Sequence[Tool]]) -> Index:
    """An index of servers that were approved one after another."""
    made = Index()
    for at, server in enumerate(SERVERS):
        if server in offered:
            since = {one["name"]: at for one in offered[server]}
            made.set_server(prepare_server(server, offered[server], since))
    return made


def by_length(found: Sequence[FoundTool]) -> list[float]:
    """Other scores, of which some are greater and some are not."""
    return [each.score / 2 + len(each.name) / 10 for each in found]


@dataclass(frozen=True)
class Taught:
    """Which words each tool has learned, as earlier searches would have taught them."""

    words: Mapping[ToolName, Collection[str]]

    def follow(self) -> int:
        return 0

    def tools(self, term: str) -> Mapping[ToolName, tuple[float, int]]:
        return {tool: (0.5, len(some)) for tool, some in self.words.items() if any(stem(each) == term for each in some)}


@given(offers, queries, st.integers(1, 8), st.sampled_from([None, by_length]), st.sets(word, max_size=3))
@settings(max_examples=examples(150), deadline=None)
def test_the_points_add_up_to_the_score_unless_its_place_gave_it_more(
    offered: dict[str, list[Tool]], query: str, limit: int, rescore: Rescore | None, taught: set[str]
) -> None:
    learned = {(server, one["name"]): taught for server, listed in offered.items() for one in listed[::2] if taught}
    view = View(indexed(offered), None, Taught(learned))
    explained = view.explain(query, limit, None, rescore)
    assert [found for found, _ in explained.tools] == view.search(query, limit, None, rescore)
    every = view.explain(query, 100, None, rescore).tools
    repeated = {key for _, why in every for key in why.repeats}
    for found, why in explained.tools:
        if not math.isclose(why.points, found.score):
            assert why.points < found.score
            assert found.exact or f"{found.server}:{found.name}" in repeated
        assert rescore is not None or why.gained == 0


@given(offers, queries, st.sets(st.sampled_from(SERVERS)))
@settings(max_examples=examples(150), deadline=None)
def test_what_may_not_be_seen_might_as_well_not_exist_for_an_explanation(
    offered: dict[str, list[Tool]], query: str, seen: set[str]
) -> None:
    view = View(indexed(offered), lambda server, _: server in seen)
    alone = View(indexed({server: listed for server, listed in offered.items() if server in seen}), None)
    assert view.explain(query, 10) == alone.explain(query, 10)


@given(offers, st.lists(word, min_size=1, max_size=4).map(" ".join))
@settings(max_examples=examples(150), deadline=None)
def test_so_might_single_tools_for_an_explanation(offered: dict[str, list[Tool]], query: str) -> None:
    view = View(indexed(offered), lambda _, name: len(name) % 2 == 0)
    few = {server: [one for one in listed if len(one["name"]) % 2 == 0] for server, listed in offered.items()}
    assert view.explain(query, 10) == View(indexed(few), None).explain(query, 10)


def counted(query: str, *listed: Tool) -> list[tuple[str, str, MatchKind]]:
    """The words that count for the best of these tools."""
    ((_, why), *_) = View(index({"sky": listed}), None).explain(query, 5).tools
    return [(each.asked, each.term, each.match) for each in why.words]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("forecast", ("forecast", "forecast", MatchKind.SAME)),
        ("forecasts", ("forecasts", "forecast", MatchKind.SAME)),
        ("weather", ("weather", "forecast", MatchKind.NEAR)),
        ("prévisions", ("previsions", "forecast", MatchKind.TRANSLATION)),
        ("créer", ("creer", "delet", MatchKind.NEAR)),
        ("forcast", ("forcast", "forecast", MatchKind.REPAIR)),
    ],
)
def test_how_a_word_led_to_one_of_the_tool_is_told(query: str, expected: tuple[str, str, MatchKind]) -> None:
    assert counted(query, tool("delete_forecast")) == [expected]


def test_words_that_are_written_together_or_apart_are_told() -> None:
    assert ("git hub", "github", MatchKind.SAME) in counted("git hub", tool("github"))
    assert {each[:2] for each in counted("deletefile", tool("delete_file"))} == {
        ("deletefile", "delet"),
        ("deletefile", "file"),
    }


def test_words_that_no_tool_has_are_told() -> None:
    view = View(index({"sky": [tool("forecast", "Says what the weather will be.")]}), None)
    assert view.explain("the weather of zorb and blargh", 5).unmatched == ("zorb", "blargh")
    assert view.explain("weather forecast forecasts", 5).unmatched == ()
    assert view.explain("天气预报", 5).unmatched == (), "a stretch without blanks is one word"
    assert view.explain("weather 龘龘龘", 5).unmatched == ("龘龘龘",)
    assert View(index({}), None).explain("weather", 5).unmatched == ("weather",)


def test_a_tool_that_repeats_another_says_which() -> None:
    said = "Tells the weather of a city."
    copies = {"a": [tool("forecast", said)], "b": [tool("forecast", said + " Weather and weather.")]}
    (first, of_first), (second, of_second) = View(indexed(copies), None).explain("weather city", 5).tools
    assert (first.server, of_first.repeats) == ("a", ())
    assert (second.server, of_second.repeats) == ("b", ("a:forecast",))
    ((alone, why),) = View(indexed(copies), lambda server, _: server == "b").explain("weather city", 5).tools
    assert (alone.server, why.repeats) == ("b", ())


def test_a_tool_whose_name_is_said_may_have_no_other_word() -> None:
    view = View(index({"a": [tool("go"), tool("weather")]}), None)
    ((found, why), *_) = view.explain("call the `go` tool", 5).tools
    assert (found.name, found.exact) == ("go", True)
    assert why.points <= found.score


def test_places_are_those_where_the_tool_says_the_word() -> None:
    one = tool(
        "get_forecast",
        "Forecasts the weather. It needs a city.",
        title="Weather",
        inputSchema={"properties": {"city": {"description": "Its forecast is made"}}},
    )
    assert find_places("sky", one, {"forecast", "weather", "citi", "snow"}) == {
        "forecast": WordPlaces(
            ("forecast", "forecasts"), (ToolPart.NAME, ToolPart.FIRST_SENTENCE, ToolPart.PARAMETERS)
        ),
        "weather": WordPlaces(("weather",), (ToolPart.TITLE, ToolPart.FIRST_SENTENCE)),
        "citi": WordPlaces(("city",), (ToolPart.PARAMETERS, ToolPart.DESCRIPTION)),
    }


@given(tools, queries)
@settings(max_examples=examples(150), deadline=None)
def test_every_word_that_counts_has_a_place(one: Tool, query: str) -> None:
    for _, why in View(index({"sky": [one]}), None).explain(query, 5).tools:
        terms = {each.term for each in why.words}
        assert find_places("sky", one, terms).keys() == terms
        assert all(each.points > 0 for each in why.words)
