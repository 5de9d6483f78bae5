"""What one caller asked never shows in the ranking of another who cannot see the same tools."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.catalog.search.index import Index
from mcpguard.catalog.search.prepared_tools import prepare_server
from mcpguard.catalog.search.search import View
from mcpguard.guard.search.counted_uses import SHARES, CountedUses
from mcpguard.guard.search.search_uses import (
    DAY,
    MOST_OF_CALLER,
    MOST_OF_TOOL,
    SearchUse,
    SearchUses,
    UsedTool,
)
from tests.tiers import examples

TOOLS = {
    "github": ("create_issue", "delete_repository"),
    "files": ("read_file", "delete_file"),
    "evil": ("notes",),
}
WORDS = ("delete", "repository", "kestrel", "osprey", "file", "issue", "notes")
EVERY = [(server, name) for server, names in TOOLS.items() for name in names]
QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
SEEN = st.sets(st.sampled_from(EVERY), min_size=1)


def index() -> Index:
    made = Index()
    for server, names in TOOLS.items():
        tools = [{"name": name, "description": f"To {name.replace('_', ' ')}."} for name in names]
        made.set_server(prepare_server(server, tools))
    return made


def use(caller: str, tool: tuple[str, str], query: str, at: int = 0, fingerprint: str = "now") -> SearchUse:
    return SearchUse(caller, UsedTool(*tool, "id", fingerprint), query, at)


def folded(*some: SearchUse) -> SearchUses:
    uses = SearchUses()
    for one in some:
        uses.add(one, one.stems())
    return uses


def counted(uses: SearchUses, *callers: str) -> CountedUses:
    return CountedUses(lambda: uses, lambda caller: caller in callers, lambda tool: tool.fingerprint == "now")


def viewed(made: Index, scope: set[tuple[str, str]], learned: CountedUses) -> View:
    return View(made, lambda server, name: (server, name) in scope, learned)


def found(view: View, query: str) -> list[tuple[str, float]]:
    return [(f"{each.server}:{each.name}", each.score) for each in view.search(query, 15)]


@settings(max_examples=examples(200), deadline=None)
@given(
    scopes=st.lists(SEEN, min_size=2, max_size=4),
    said=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(EVERY), QUERIES), max_size=30),
    queries=st.lists(QUERIES, min_size=1, max_size=5),
)
def test_a_view_answers_as_if_only_those_had_searched_who_see_no_more(
    scopes: list[set[tuple[str, str]]], said: list[tuple[int, tuple[str, str], str]], queries: list[str]
) -> None:
    made = index()
    uses = [use(str(who % len(scopes)), tool, query) for who, tool, query in said if tool in scopes[who % len(scopes)]]
    for scope in scopes:
        inside = [str(number) for number, other in enumerate(scopes) if other <= scope]
        everybody = viewed(made, scope, counted(folded(*uses), *inside))
        nobody_else = viewed(made, scope, counted(folded(*(one for one in uses if one.caller in inside)), *inside))
        for query in queries:
            answer = found(everybody, query)
            assert answer == found(nobody_else, query)
            assert {key for key, _ in answer} <= {f"{server}:{name}" for server, name in scope}


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(EVERY), QUERIES), max_size=30), QUERIES)
def test_a_tool_without_history_keeps_its_score(said: list[tuple[str, tuple[str, str], str]], query: str) -> None:
    uses = folded(*(use(*one) for one in said))
    made, learned = index(), counted(uses, *"abc")
    before, after = dict(found(View(made, None), query)), dict(found(View(made, None, learned), query))
    for server, name in EVERY:
        score = before.get(f"{server}:{name}", 0.0)
        if not learned.shares(UsedTool(server, name, "id", "now")):
            assert after.get(f"{server}:{name}", 0.0) in (score, 0.0), "0: too faint beside what was learned"
        elif score and f"{server}:{name}" in after:
            assert after[f"{server}:{name}"] >= score


def test_a_word_is_learned_when_two_searches_said_it_and_callers_count_not_calls() -> None:
    notes = ("evil", "notes")
    uses = folded(use("a", notes, "kestrel"))
    learned = counted(uses, *"abcd")
    assert learned.shares(UsedTool(*notes, "id", "now")) == {}
    for number in range(50):
        one = use("a", notes, f"kestrel {number}x")
        uses.add(one, one.stems())
    assert learned.shares(UsedTool(*notes, "id", "now"))["kestrel"] == SHARES[1] == max(SHARES) / 2
    for caller, share in zip("bcd", (*SHARES[2:], SHARES[-1]), strict=True):
        one = use(caller, notes, "kestrel")
        uses.add(one, one.stems())
        assert learned.shares(UsedTool(*notes, "id", "now"))["kestrel"] == share


def test_a_query_of_other_letters_but_the_same_words_is_the_same_search() -> None:
    uses = folded(use("a", ("evil", "notes"), "kestrel"), use("a", ("evil", "notes"), "  Kestrel!"))
    assert counted(uses, "a").shares(UsedTool("evil", "notes", "id", "now")) == {}


def test_small_words_are_not_learned() -> None:
    assert use("a", ("evil", "notes"), "please, what is the").stems() == set()
    assert use("a", ("evil", "notes"), "the kestrel flies osp…").stems() == {"kestrel", "fli"}, "a cut word is no word"


def test_one_definition_teaches_nothing_of_another() -> None:
    uses = folded(*(use("a", ("evil", "notes"), f"kestrel {each}", fingerprint="old") for each in ("one", "osprey")))
    assert counted(uses, "a").shares(UsedTool("evil", "notes", "id", "old")) == {}
    assert counted(uses, "a").shares(UsedTool("evil", "notes", "id", "now")) == {}


def test_what_is_kept_is_bounded_and_the_newest_stay() -> None:
    tool = ("evil", "notes")
    uses = folded(*(use("a", tool, f"word{number}", number) for number in range(2 * MOST_OF_TOOL)))
    assert len(uses) == MOST_OF_TOOL
    assert uses.is_known(use("a", tool, f"word{2 * MOST_OF_TOOL - 1}", DAY))
    assert not uses.is_known(use("a", tool, "word0", 0))
    many = folded(*(use("a", ("evil", f"n{number}"), "word", number) for number in range(MOST_OF_CALLER + 5)))
    assert len(many) == MOST_OF_CALLER
    many.add(use("b", tool, "word"), frozenset({"word"}))
    many.forget(lambda one: one.caller == "a")
    assert len(many) == 1
    many.forget(lambda _: True)
    assert (len(many), list(many.tools_saying("word"))) == (0, [])
