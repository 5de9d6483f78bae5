"""Searches the index within one caller's scope.

    index = Index()
    index.set_server(prepare_server("github", tools))  # in a thread, if the server is large
    everything = View(index, None)
    somebody = View(index, lambda server, name: within(scope, server, name))
    for found in somebody.search("github create issue", limit=15): ...

Rules kept here:
1. What is out of scope is left out before anything is ranked.
2. A tool whose whole name is the query, or is said in it as a name, comes first, whatever else is found.
3. A view belongs to one index and to the thread that owns it, and follows every change. The set of tools that it allows
   must never change: a caller whose scope changes gets a new view.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Final

from mcpguard.catalog.search.homonyms import is_server_said, originals_first, originals_of
from mcpguard.catalog.search.index import NOTHING, Index, IndexedServer, Weights
from mcpguard.catalog.search.learned_terms import with_learned
from mcpguard.catalog.search.learned_weights import LearnedWeights, LearnedWords
from mcpguard.catalog.search.match_explanation import ToolExplanation, matched_words
from mcpguard.catalog.search.names_in_query import is_name_of, names_in
from mcpguard.catalog.search.query import LONGEST, read_query, read_whole_query
from mcpguard.catalog.search.ranking import QueryWord, best_tools
from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.stopwords import STOP
from mcpguard.catalog.search.vocabulary import WordForms
from mcpguard.catalog.search.words import words

Allowed = Callable[[str, str], bool]
"""Tells whether a tool may be seen, by its server and its name; always the same for the same tool."""
_MOST_COUNTED: Final = 20_000


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool, and how well it matches; scores are comparable within one answer only."""

    server: str
    name: str
    score: float
    exact: bool = False
    """Whether its name is the query, or is said in it."""


Rescore = Callable[[Sequence[FoundTool]], Sequence[float]]
"""Returns a score for each tool that was found, in their order."""
RESCORED: Final = 300


@dataclass(frozen=True, slots=True)
class ExplainedSearch:
    """The tools that were found, the best first, each with why; and the words of the query that no tool has."""

    tools: tuple[tuple[FoundTool, ToolExplanation], ...]
    unmatched: tuple[str, ...]


class RescoreGains:
    """Scores tools anew, and keeps how many points each gains by that, or loses."""

    def __init__(self, rescore: Rescore) -> None:
        self._rescore = rescore
        self._gains: dict[tuple[str, str], float] = {}

    def __call__(self, found: Sequence[FoundTool]) -> Sequence[float]:
        scores = self._rescore(found)
        self._gains = {(each.server, each.name): score - each.score for each, score in zip(found, scores, strict=True)}
        return scores

    def gain_of(self, found: FoundTool) -> float:
        """Return what a tool has gained."""
        return self._gains.get((found.server, found.name), 0.0)


class _Wanted:
    """The numbers of the tools that may be seen and are wanted; the answer for each is kept."""

    def __init__(self, index: Index, seen: Container[int] | None, only: Allowed) -> None:
        self._index = index
        self._seen = seen
        self._only = only
        self._known: dict[object, bool] = {}

    def __contains__(self, number: object) -> bool:
        known = self._known.get(number)
        if known is None:
            document = self._index.documents[number]  # type: ignore[index]
            seen = self._seen is None or number in self._seen
            known = self._known[number] = seen and self._only(document.server, document.name)
        return known


class View:
    """The index as one caller sees it: the tools that are `allowed`; None stands for all of them. `learned`: what use
    has taught of them; None if nothing is learned."""

    def __init__(self, index: Index, allowed: Allowed | None, learned: LearnedWords | None = None) -> None:
        self._index = index
        self._allowed = allowed
        self._learned = None if learned is None else LearnedWeights(index, learned)
        self._version = -1
        self._servers: dict[str, tuple[IndexedServer, frozenset[int]]] = {}
        self._seen: set[int] = set()
        self._having: dict[str, int] = {}
        self._size = 0
        self._version_of_size = -1

    def search(
        self, query: str, limit: int, only: Allowed | None = None, rescore: Rescore | None = None
    ) -> list[FoundTool]:
        """Return the best tools for a query, the best first. `only`: which of the visible tools are wanted. `rescore`:
        what gives other scores to the best `RESCORED` by words, of which those with the query's names stay first.
        """
        if limit < 1:
            return []
        seen = self._seen_of(only)
        text = query[:LONGEST].strip()
        read, most = self._with_learned(read_query(text, self), text), max(limit, RESCORED if rescore else 0)
        scores = dict(best_tools(read, most, seen, self._key))
        said = {*words(text)} - STOP
        exact = self._exact(text, said, scores, seen)
        best = max(scores.values(), default=1.0)
        ranked = {number: scores.get(number, best) for number in exact} | scores
        if rescore is not None:
            ranked = self._rescored(ranked, exact, rescore)
        settled = originals_first(ranked, self._index, seen, said)
        return [self._found(number, score, number in exact) for number, score in islice(settled.items(), limit)]

    def _rescored(self, ranked: Mapping[int, float], exact: list[int], rescore: Rescore) -> dict[int, float]:
        found = [self._found(number, score, number in exact) for number, score in ranked.items()]
        scores = dict(zip(ranked, rescore(found), strict=True))
        return {number: scores[number] for number in exact} | dict(sorted(scores.items(), key=lambda each: -each[1]))

    def explain(
        self, query: str, limit: int, only: Allowed | None = None, rescore: Rescore | None = None
    ) -> ExplainedSearch:
        """Return the best tools for a query, as `search` does, and why each of them was found."""
        gains = None if rescore is None else RescoreGains(rescore)
        found, seen = self.search(query, limit, only, gains), self._seen_of(only)
        text = query[:LONGEST].strip()
        said = {*words(text)} - STOP
        read, unread = read_whole_query(text, self)
        understood = self._with_learned(read, text)
        learned = {word.asked for word in understood} - {word.asked for word in read}
        unmatched = [word for word in unread if word not in learned]

        def why(each: FoundTool) -> ToolExplanation:
            number = self._index.shelves[each.server].numbers[each.name]
            repeats = originals_of(number, self._index, seen, said)
            gained = 0.0 if gains is None else gains.gain_of(each)
            return ToolExplanation(matched_words(understood, number), tuple(map(self._key, repeats)), gained)

        return ExplainedSearch(tuple((each, why(each)) for each in found), tuple(unmatched))

    def _with_learned(self, found: list[QueryWord], text: str) -> list[QueryWord]:
        return found if self._learned is None else with_learned(found, text, self)

    def _seen_of(self, only: Allowed | None) -> Container[int] | None:
        """Return the numbers of the tools that count, as of now; None for all."""
        self._follow()
        if self._learned is not None:
            self._learned.follow()
        seen: Container[int] | None = None if self._allowed is None else self._seen
        return seen if only is None else _Wanted(self._index, seen, only)

    def _exact(self, text: str, said: set[str], scores: Mapping[int, float], seen: Container[int] | None) -> list[int]:
        """Return the tools whose name is the text, and after them those whose name is said in it.

        Of several with one name come first those that are spelt exactly so, then those whose server is said, then those
        that were approved first: a later one gains nothing by its texts.
        """
        documents = self._index.documents

        def order(number: int, name: str) -> tuple[object, ...]:
            one = documents[number]
            spelt = is_name_of(name, one.server, one.name)
            unsaid = not is_server_said(one.server, said)
            return not spelt, unsaid, name != one.name, one.since, -scores.get(number, 0.0), one.key

        named = sorted(self._index.numbers_named(text), key=lambda number: order(number, text))
        for name in names_in(text):
            same = self._index.numbers_named(name)
            spelt = [number for number in same if is_name_of(name, documents[number].server, documents[number].name)]
            named += sorted(spelt, key=lambda number: order(number, name))
        return [number for number in dict.fromkeys(named) if seen is None or number in seen]

    @property
    def vocabulary(self) -> WordForms:
        return self._index.vocabulary

    def count(self) -> int:
        return len(self._index.documents) if self._allowed is None else len(self._seen)

    def size(self) -> int:
        """Return the bytes of the definitions of all visible tools."""
        self._follow()
        if self._version_of_size != self._index.version:
            documents = self._index.documents
            numbers = documents if self._allowed is None else self._seen
            self._size = sum(documents[number].size for number in numbers)
            self._version_of_size = self._index.version
        return self._size

    def count_having(self, term: str) -> int:
        """Return how many of the visible tools have a term."""
        weights = self._index.weights(term)
        if self._allowed is None or not weights:
            return len(weights)
        counted = self._having.get(term)
        if counted is None:
            if len(self._having) >= _MOST_COUNTED:
                self._having.clear()
            counted = self._having[term] = len(weights.keys() & self._seen)
        return counted

    def weights(self, term: str) -> Weights:
        return self._index.weights(term)

    def most(self, term: str) -> float:
        return self._index.most(term)

    def learned_weights(self, term: str) -> Weights:
        return NOTHING if self._learned is None else self._learned.weights(term)

    def visible(self) -> AbstractSet[int]:
        """Return the numbers of the visible tools."""
        self._follow()
        return self._index.documents.keys() if self._allowed is None else self._seen

    def has_form(self, form: str) -> bool:
        """Tell whether a visible server has a word in exactly this form."""
        servers = self._index.vocabulary.servers(form)
        if self._allowed is not None:
            servers = [server for server in servers if self._servers[server][1]]
        return bool(servers) and self.count_having(stem(form)) > 0

    def _follow(self) -> None:
        """Take over the changes since the last search."""
        if self._allowed is None or self._version == self._index.version:
            return
        shelves = self._index.shelves
        for server, (shelved, numbers) in tuple(self._servers.items()):
            if shelves.get(server) is not shelved:
                self._seen -= numbers
                del self._servers[server]
        for server, shelved in shelves.items():
            if server not in self._servers:
                self._see(server, shelved, self._allowed)
        self._having.clear()
        self._version = self._index.version

    def _see(self, server: str, shelved: IndexedServer, allowed: Allowed) -> None:
        numbers = frozenset(number for name, number in shelved.numbers.items() if allowed(server, name))
        self._servers[server] = (shelved, numbers)
        self._seen |= numbers

    def _key(self, number: int) -> str:
        return self._index.documents[number].key

    def _found(self, number: int, score: float, exact: bool) -> FoundTool:
        document = self._index.documents[number]
        return FoundTool(document.server, document.name, score, exact)
