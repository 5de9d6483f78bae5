"""Our own queries find our own tools: as often as they did when this was last measured, less a little."""

import random
from string import ascii_lowercase

import pytest

from mcpguard.catalog.search.prepared_tools import prepare_server
from mcpguard.catalog.search.search import View
from mcpguard.catalog.search.stopwords import STOP
from tests.benchmarks.retrieval import figures
from tests.catalog.search.golden.golden import Query, queries, servers
from tests.catalog.search.offers import index, keys

FLOORS = {
    "short": (0.98, 1.0, 0.94),
    "long": (0.94, 0.96, 0.88),
    "paraphrased": (0.83, 0.98, 0.74),
    "misspelt": (0.97, 1.0, 0.96),
    "exact": (1.0, 1.0, 1.0),
    "languages": (0.98, 1.0, 0.98),
}
"""Of each kind of query: recall among the first 5 and the first 15, and the mean of 1/rank."""


def found(some: list[Query], view: View) -> dict[str, float]:
    return figures([(keys(view, query.text), dict.fromkeys(query.relevant, 1)) for query in some])


def everything() -> View:
    return View(index(servers()), None)


def test_the_set_is_large_enough_to_tell_something() -> None:
    assert sum(map(len, servers().values())) >= 120
    assert len(servers()) >= 15
    assert len(queries()) >= 150
    assert {query.kind for query in queries()} == FLOORS.keys()
    names = {f"{server}:{tool['name']}" for server, tools in servers().items() for tool in tools}
    assert all(query.relevant <= names for query in queries())


@pytest.mark.parametrize("kind", FLOORS)
def test_queries_find_what_they_are_for(kind: str) -> None:
    measured = found([query for query in queries() if query.kind == kind], everything())
    assert all(measured[name] >= floor for name, floor in zip(("R@5", "R@15", "MRR"), FLOORS[kind], strict=True))


def test_queries_with_two_mistakes_are_understood() -> None:
    chance = random.Random(7)  # noqa: S311 - the same mistakes in every run
    some = [query for query in queries() if query.kind in {"short", "long", "paraphrased"}]
    mistyped = [Query(_mistyped(query.text, chance), query.kind, query.relevant) for query in some for _ in range(2)]
    assert found(mistyped, everything())["R@15"] >= 0.93


def _mistyped(text: str, chance: random.Random) -> str:
    """The text with a mistake in two of its words that say something."""
    written = text.split()
    long = [at for at, word in enumerate(written) if len(word) > 3 and word.isalpha() and word.lower() not in STOP]
    for at in chance.sample(long, min(2, len(long))):
        word, place = written[at], chance.randrange(1, len(written[at]) - 1)
        letter, turned = chance.choice(ascii_lowercase), word[place + 1] + word[place]
        written[at] = word[:place] + chance.choice(
            [turned + word[place + 2 :], word[place + 1 :], letter + word[place:], letter + word[place + 1 :]]
        )
    return " ".join(written)


def test_naming_the_server_helps() -> None:
    """Agents are asked to say service, verb and object."""
    some = [query for query in queries() if query.kind == "paraphrased"]
    named = [
        Query(f"{min(query.relevant).partition(':')[0]} {query.text}", query.kind, query.relevant) for query in some
    ]
    assert found(named, everything())["R@5"] > found(some, everything())["R@5"]


def test_what_cannot_be_seen_makes_room_before_the_best_are_chosen() -> None:
    """Two servers offer the same. Whoever sees one of them finds fifteen tools of that one."""
    made = index(servers())
    for server, tools in servers().items():
        made.set_server(prepare_server(f"other-{server}", tools))
    some = View(made, lambda server, _: not server.startswith("other-"))
    assert found(queries(), some) == found(queries(), everything())
