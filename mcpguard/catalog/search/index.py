"""The search index: which tools contain a term, and its weight in each. It follows every change of a server.

Rules kept here:
1. One thread owns the index (in the guard, that of the event loop). Every method ends before another begins, so that no
   search sees half a change. The slow work is in `prepared_tools`, which any thread may run.
2. After any sequence of changes, the index answers like one that was built from its present content.
3. The cost of a change depends on what differs: unchanged tools keep their places.
4. A caller with a scope gets the answers of an index of its scope only: hidden tools contribute nothing, not even to
   how rare a word is. Only the repair of misspelt words considers a server as a whole.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from mcpguard.catalog.search.prepared_tools import Document, PreparedServer
from mcpguard.catalog.search.vocabulary import WordForms
from mcpguard.catalog.search.words import fold

Weights = Mapping[int, float]
NOTHING: Final[Weights] = {}
LONGEST_NAMED: Final = 400
"""Characters of a text that may be the name of a tool with that of its server."""
_MOST_JOINTS: Final = 32
_JOINTS: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class IndexedServer:
    """A server's tools in the index: by name, the number of each."""

    prepared: PreparedServer
    numbers: Mapping[str, int]


class Index:
    """The index of all tools, by their terms and names."""

    def __init__(self) -> None:
        self.shelves: dict[str, IndexedServer] = {}
        self.documents: dict[int, Document] = {}
        self.vocabulary = WordForms()
        self.version = 0
        """Grows with every change."""
        self._postings: dict[str, dict[int, float]] = {}
        self._most: dict[str, float] = {}
        self._named: dict[str, set[int]] = {}
        self._next = 0

    def set_server(self, prepared: PreparedServer) -> None:
        """Replace the tools of a server."""
        before = self.shelves.get(prepared.server)
        if before and before.prepared == prepared:
            return
        stayed = {} if before is None else self._without(before, prepared.documents)
        numbers = {name: stayed.get(name) or self._add(each) for name, each in prepared.documents.items()}
        self._changed(prepared.server, before, IndexedServer(prepared, numbers))

    def remove_server(self, server: str) -> None:
        """Remove the tools of a server."""
        if before := self.shelves.get(server):
            self._without(before, {})
            self._changed(server, before, None)

    def weights(self, term: str) -> Weights:
        """Return the tools that have a term, and how much it counts in each."""
        return self._postings.get(term, NOTHING)

    def most(self, term: str) -> float:
        """Return a bound for the weight of a term in any tool; since a removal, no tool may reach it any more."""
        return self._most[term]

    def numbers_named(self, text: str) -> set[int]:
        """Return the tools with exactly this name, with or without that of their server before it."""
        numbers = set(self._named.get(plain_name(text), ()))
        for joint in islice(_JOINTS.finditer(text[:LONGEST_NAMED]), _MOST_JOINTS):
            numbers |= self._named.get(_whole_name(text[: joint.start()], text[joint.end() :]), set())
        return numbers

    def homonyms(self, number: int) -> set[int]:
        """Return the tools with the same name as this one, which is among them, at whatever server."""
        return self._named[plain_name(self.documents[number].name)]

    def _without(self, before: IndexedServer, wanted: Mapping[str, Document]) -> dict[str, int]:
        """Remove the tools that are not wanted as they are, and return the others."""
        stayed: dict[str, int] = {}
        for name, number in before.numbers.items():
            if wanted.get(name) == self.documents[number]:
                stayed[name] = number
            else:
                self._remove(number)
        return stayed

    def _changed(self, server: str, before: IndexedServer | None, after: IndexedServer | None) -> None:
        none: frozenset[str] = frozenset()
        forms = before.prepared.forms if before else none
        self.vocabulary.change(server, forms, after.prepared.forms if after else none)
        if after:
            self.shelves[server] = after
        else:
            del self.shelves[server]
        self.version += 1

    def _add(self, document: Document) -> int:
        self._next += 1
        number = self._next
        self.documents[number] = document
        for term, weight in document.weights.items():
            postings = self._postings.get(term)
            if postings is None:
                self._postings[term] = {number: weight}
                self._most[term] = weight
            else:
                postings[number] = weight
                self._most[term] = max(self._most[term], weight)
        for name in _names(document):
            self._named.setdefault(name, set()).add(number)
        return number

    def _remove(self, number: int) -> None:
        document = self.documents.pop(number)
        for term in document.weights:
            postings = self._postings[term]
            del postings[number]
            if not postings:
                del self._postings[term], self._most[term]
        for name in _names(document):
            numbers = self._named[name]
            numbers.discard(number)
            if not numbers:
                del self._named[name]


def plain_name(text: str) -> str:
    """Return a name without case, and without the marks that join its words."""
    return _JOINTS.sub("", fold(text)).casefold() or text.strip()


def _whole_name(server: str, name: str) -> str:
    """Return a plain name with that of its server. Where the one ends and the other begins is part of it: otherwise
    `git` with `hub_read` could pass for `github` with `read`."""
    return f"{_JOINTS.sub('-', fold(server)).casefold()}:{plain_name(name)}"


def _names(document: Document) -> set[str]:
    return {plain_name(document.name), _whole_name(document.server, document.name)}
