"""The index: which tools have a term, and how much it counts in each. It follows every change of a server.

Rules kept here:
1. One thread owns it, in the guard that of the event loop: every method ends before another begins, so no search sees
   half a change. What takes long is in `prepared`, which any thread may run.
2. After any sequence of changes it answers as an index would that was made from what is there now.
3. A change costs what differs: tools that stayed the same stay where they are.
4. Where not everything may be seen, the answer is that of an index of what may be: what is hidden adds nothing,
   not even to how rare a word is. Only for repairing a misspelt word servers are taken whole.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mcpguard.catalog.search.prepared import Document, Prepared
from mcpguard.catalog.search.vocabulary import WordForms
from mcpguard.catalog.search.words import folded

Weights = Mapping[int, float]
NOTHING: Final[Weights] = {}
_JOINTS: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Shelved:
    """A server's tools as they are in the index: by name, the number that each goes by."""

    prepared: Prepared
    numbers: Mapping[str, int]


class Index:
    """Everything that can be found."""

    def __init__(self) -> None:
        self.shelves: dict[str, Shelved] = {}
        self.documents: dict[int, Document] = {}
        self.vocabulary = WordForms()
        self.version = 0
        """Differs whenever anything does."""
        self._postings: dict[str, dict[int, float]] = {}
        self._most: dict[str, float] = {}
        self._named: dict[str, set[int]] = {}
        self._next = 0

    def set_server(self, prepared: Prepared) -> None:
        """From now on, these are the server's tools."""
        before = self.shelves.get(prepared.server)
        if before and before.prepared == prepared:
            return
        stayed = {} if before is None else self._without(before, prepared.documents)
        numbers = {name: stayed.get(name) or self._add(each) for name, each in prepared.documents.items()}
        self._changed(prepared.server, before, Shelved(prepared, numbers))

    def remove_server(self, server: str) -> None:
        """From now on, nothing of this server can be found."""
        if before := self.shelves.get(server):
            self._without(before, {})
            self._changed(server, before, None)

    def weights(self, term: str) -> Weights:
        """The tools that have a term, and how much it counts in each."""
        return self._postings.get(term, NOTHING)

    def most(self, term: str) -> float:
        """No tool has the term with more weight; it may be that none has it with as much any more."""
        return self._most[term]

    def named(self, text: str) -> set[int]:
        """The tools that are called exactly this."""
        return self._named.get(plain_name(text), set())

    def _without(self, before: Shelved, wanted: Mapping[str, Document]) -> dict[str, int]:
        """What is left of a server after everything has gone that is not wanted as it is."""
        stayed: dict[str, int] = {}
        for name, number in before.numbers.items():
            if wanted.get(name) == self.documents[number]:
                stayed[name] = number
            else:
                self._remove(number)
        return stayed

    def _changed(self, server: str, before: Shelved | None, after: Shelved | None) -> None:
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
    """A name without what makes no other name of it: case, and how its words are joined."""
    return _JOINTS.sub("", folded(text)).casefold() or text.strip()


def _names(document: Document) -> set[str]:
    return {plain_name(document.name), plain_name(document.key)} - {""}
