"""What the index answers depends on what is in it and may be seen, and on nothing else."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.catalog.search.fields import texts
from mcpguard.catalog.search.index import Index
from mcpguard.catalog.search.prepared_tools import B, prepare_server
from mcpguard.catalog.search.query import read_query
from mcpguard.catalog.search.ranking import FAINTEST, QueryWord, best_tools
from mcpguard.catalog.search.search import View
from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.words import words
from tests.benchmarks.kernel import Kernel
from tests.catalog.search.offers import Tool, answers, index, tool
from tests.tiers import examples

KNOWN = "create issue list file delete remove show folder weather forecast send email".split()  # noqa: SIM905
MADE_UP = "zorb quix plim drav wonk fost glup brin".split()  # noqa: SIM905
"""Words without synonyms."""
SERVERS = ("a", "b", "c")

word = st.sampled_from([*KNOWN, *MADE_UP])
prose = st.lists(word, max_size=12).map(" ".join)
tools = st.builds(
    tool,
    st.lists(word, min_size=1, max_size=3).map("_".join),
    st.lists(prose, max_size=3).map(". ".join),
    inputSchema=st.dictionaries(word, st.builds(lambda about: {"description": about}, prose), max_size=2).map(
        lambda properties: {"properties": properties}
    ),
)
listings = st.lists(tools, max_size=5)
misspelt = st.sampled_from(["craete", "isue", "delet", "foldre", "createissue", "wether", "zrob", "datei", "löschen"])
queries = st.lists(st.one_of(word, misspelt), min_size=1, max_size=5).map(" ".join)
changes = st.lists(st.tuples(st.sampled_from(SERVERS), st.one_of(st.none(), listings)), max_size=12)


def everywhere(made: Index, asked: Sequence[str]) -> list[list[tuple[str, float, bool]]]:
    return [answers(View(made, None), query, 5) for query in asked]


@given(changes, st.lists(queries, min_size=1, max_size=3))
@settings(max_examples=examples(150), deadline=None)
def test_an_index_that_was_changed_answers_as_one_made_anew(
    made: list[tuple[str, list[Tool] | None]], asked: list[str]
) -> None:
    changed, now = Index(), dict[str, list[Tool]]()
    following = View(changed, lambda server, _: server != "c")
    for server, listed in made:
        if listed is None:
            changed.remove_server(server)
            now.pop(server, None)
        else:
            changed.set_server(prepare_server(server, listed))
            now[server] = listed
        following.search("zorb", 1)
    anew = index(now)
    assert everywhere(changed, asked) == everywhere(anew, asked)
    few = View(anew, lambda server, _: server != "c")
    assert [answers(following, query) for query in asked] == [answers(few, query) for query in asked]


@given(
    st.dictionaries(st.sampled_from(SERVERS), listings),
    st.lists(queries, min_size=1, max_size=3),
    st.sets(st.sampled_from(SERVERS)),
)
@settings(max_examples=examples(150), deadline=None)
def test_what_may_not_be_seen_might_as_well_not_exist(
    offered: dict[str, list[Tool]], asked: list[str], seen: set[str]
) -> None:
    """The scores are the same to the last bit, so what is hidden cannot be found out by them."""
    view = View(index(offered), lambda server, _: server in seen)
    alone = View(index({server: listed for server, listed in offered.items() if server in seen}), None)
    assert [answers(view, query) for query in asked] == [answers(alone, query) for query in asked]


@given(st.dictionaries(st.sampled_from(SERVERS), listings), st.lists(word, min_size=1, max_size=4))
@settings(max_examples=examples(150), deadline=None)
def test_so_might_single_tools(offered: dict[str, list[Tool]], asked: list[str]) -> None:
    view = View(index(offered), lambda _, name: len(name) % 2 == 0)
    few = {server: [one for one in listed if len(one["name"]) % 2 == 0] for server, listed in offered.items()}
    query = " ".join(asked)
    assert answers(view, query) == answers(View(index(few), None), query)


@given(st.dictionaries(st.sampled_from(SERVERS), listings), queries, st.integers(1, 8))
@settings(max_examples=examples(150), deadline=None)
def test_the_best_are_those_that_looking_at_all_would_find(
    offered: dict[str, list[Tool]], query: str, limit: int
) -> None:
    view = View(index(offered), None)
    understood = read_query(query, view)
    everything = sorted(_all_scores(understood).items(), key=lambda each: (-each[1], view._key(each[0])))
    everything = [each for each in everything if each[1] >= everything[0][1] * FAINTEST]
    found = best_tools(understood, limit, None, view._key)
    assert [number for number, _ in found] == [number for number, _ in everything[:limit]]
    assert all(math.isclose(score, everything[at][1]) for at, (_, score) in enumerate(found))


def _all_scores(understood: Sequence[QueryWord]) -> Mapping[int, float]:
    scores: defaultdict[int, float] = defaultdict(float)
    for one in sorted(understood, key=lambda one: (-one.rareness, one.word)):
        gained: dict[int, float] = {}
        for term in one.terms:
            for number, weight in term.weights.items():
                gained[number] = max(gained.get(number, 0.0), weight * term.factor)
        for number, score in gained.items():
            scores[number] += score
    return scores


made_up = st.lists(st.sampled_from(MADE_UP), min_size=1, max_size=6).map(" ".join)
plain = st.builds(tool, st.sampled_from(MADE_UP), made_up, title=made_up)


@given(
    st.lists(plain, min_size=1, max_size=8, unique_by=lambda one: one["name"]),
    st.sets(st.sampled_from(MADE_UP), min_size=1),
)
@settings(max_examples=examples(150), deadline=None)
def test_scores_are_those_of_rank_bm25(listed: list[Tool], asked: set[str]) -> None:
    frequencies = []
    for one in listed:
        of_tool: defaultdict[str, float] = defaultdict(float)
        for field, text in texts("server", one):
            found = words(text)
            for term, times in Counter(map(stem, found)).items():
                length = max(len(found), field.fewest) / field.usual
                of_tool[term] += field.weight * times / (1 - B + B * length)
        frequencies.append(of_tool)
    terms = [stem(each) for each in sorted(asked) if any(stem(each) in of_tool for of_tool in frequencies)]
    theirs = Kernel(frequencies).get_batch_scores(terms, list(range(len(listed))))
    ours = {key: score for key, score, _ in answers(View(index({"server": listed}), None), " ".join(terms), 100)}
    for one, score in zip(listed, theirs, strict=True):
        key = f"server:{one['name']}"
        assert math.isclose(ours.get(key, 0.0), score, rel_tol=1e-3) or score <= max(theirs) * FAINTEST * 1.001
