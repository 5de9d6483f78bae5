"""The word forms that occur in tools, and those that a misspelt or glued word may stand for.

Rules kept here:
1. A word belongs to the servers that contain it, and is removed with the last of them.
2. A limited number of candidates is compared, in an order that does not depend on the order of insertion.
3. Short words are not repaired, because too many other words are similar to them.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

SHORTEST: Final = 4
"""Letters of the shortest word that is repaired, or that another is repaired to."""
LONGEST: Final = 24
_MIDDLING: Final = 6
"""Letters below which the first one has to be right: "know" is not "snow"."""
_LONG: Final = 7
"""A word of this many letters may have two mistakes."""
_MOST_CANDIDATES: Final = 200
_SHORTEST_PART: Final = 3
Seen = Callable[[str], bool]


class WordForms:
    """All forms of words with the servers that have them, also found by a form without one letter."""

    def __init__(self) -> None:
        self._servers: dict[str, set[str]] = {}
        self._without_one: dict[str, set[str]] = {}

    def change(self, server: str, before: frozenset[str], after: frozenset[str]) -> None:
        """Replace the forms that a server has."""
        for form in before - after:
            servers = self._servers[form]
            servers.discard(server)
            if not servers:
                del self._servers[form]
                self._unlearn(form)
        for form in after - before:
            if form in self._servers:
                self._servers[form].add(server)
            else:
                self._servers[form] = {server}
                self._learn(form)

    def servers(self, form: str) -> Iterable[str]:
        """Return the servers that have a form."""
        return self._servers.get(form, ())

    def nearest_forms(self, word: str, seen: Seen) -> list[tuple[str, int]]:
        """Return the forms with the fewest mistakes compared with a word, each with their number."""
        if not SHORTEST <= len(word) <= LONGEST or not word.isalpha():
            return []
        most = 2 if len(word) >= _LONG else 1
        keys = {word, *_without_one(word)}
        nearest = self._within(word, keys, most, seen)
        if most == 2 and (not nearest or nearest[0][1] > 1):
            nearest = self._within(word, {shorter for key in keys for shorter in _without_one(key)} | keys, most, seen)
        return nearest

    def parts(self, word: str, seen: Seen, most: int = 3) -> list[str]:
        """Return the two or three forms that a word is glued together from; none if it is not."""
        if not 2 * _SHORTEST_PART <= len(word) <= LONGEST or not word.isalpha():
            return []
        for at in range(len(word) - _SHORTEST_PART, _SHORTEST_PART - 1, -1):
            first, rest = word[:at], word[at:]
            if first in self._servers and seen(first):
                if rest in self._servers and seen(rest):
                    return [first, rest]
                if most > 2 and (others := self.parts(rest, seen, most - 1)):
                    return [first, *others]
        return []

    def _within(self, word: str, keys: Iterable[str], most: int, seen: Seen) -> list[tuple[str, int]]:
        forms = {form for key in keys for form in self._without_one.get(key, ())}
        forms.update(key for key in keys if key in self._servers and len(key) >= SHORTEST)
        candidates = [
            (form, mistakes)
            for form in islice(sorted(forms, key=lambda form: (form[0] != word[0], form)), _MOST_CANDIDATES)
            if (len(word) >= _MIDDLING or form[0] == word[0] or form[:2] == word[1::-1])
            and (mistakes := distance(word, form)) <= most
            and seen(form)
        ]
        fewest = min((mistakes for _, mistakes in candidates), default=0)
        return [(form, mistakes) for form, mistakes in candidates if mistakes == fewest]

    def _learn(self, form: str) -> None:
        for key in _keys(form):
            self._without_one.setdefault(key, set()).add(form)

    def _unlearn(self, form: str) -> None:
        for key in _keys(form):
            forms = self._without_one[key]
            forms.discard(form)
            if not forms:
                del self._without_one[key]


def distance(one: str, other: str) -> int:
    """Return how many letters were left out, added, replaced, or swapped with the next."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _keys(form: str) -> set[str]:
    return set(_without_one(form)) if SHORTEST <= len(form) <= LONGEST and form.isalpha() else set()


def _without_one(word: str) -> Iterator[str]:
    return (word[:at] + word[at + 1 :] for at in range(len(word)))
