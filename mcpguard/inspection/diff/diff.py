"""Compares two versions of a definition: what was added, removed and changed, and where.

The values are JSON as parsed by `codec.strict`: a tool, resource, template or prompt, or a server's instructions (a
string). Rules kept here:
1. Applying all changes to the old value gives the new one: removals from last to first, then changes, then additions
   from first to last.
2. `1`, `1.0`, `true` and `"1"` are four different values. A member whose value is null is present. The order of an
   object's members has no meaning; the order of a list's elements has, and if only the order changed, this is one
   change of the whole list.
3. An element inserted into a list is one change: elements are matched by identity (`elements`).
4. Values are compared level by level in reading order: what a definition says of itself before what is nested in it. So
   a server cannot use up the effort with nested or invented members before its description is compared.
5. The cost is bounded, however large and deep the values are. `left_out` states how many more changes there are and
   which places were not compared; those may or may not have changed.
"""

from collections import deque
from collections.abc import Iterable
from itertools import chain as in_turn
from typing import Any, Final, NamedTuple

from mcpguard.inspection.diff.alignment import Effort
from mcpguard.inspection.diff.changed_words import EFFORT
from mcpguard.inspection.diff.changed_words import compare_words as compared_words
from mcpguard.inspection.diff.changes import ChangeKind, Diff, LeftOut, Path, ValueChange
from mcpguard.inspection.diff.elements import match_elements, same_ends
from mcpguard.inspection.diff.sameness import Sameness

MOST_CHANGES: Final = 200
MOST_PLACES: Final = 20
"""How many of the places that were not compared are named."""
_MOST_BYTES: Final = 8 * 1024 * 1024
_MOST_MEMBERS: Final = 220_000
_NESTED: Final = 50
"""The cost of comparing a value in detail, in members."""
_BESIDE: Final = 4
"""The cost of finding out whether a value has to be compared in detail."""
_ABSENT: Final = object()
_FIRST: Final = dict.fromkeys(
    ("name", "uri", "uriTemplate", "title", "description", "annotations", "inputSchema", "arguments")
)


def compare_definitions(before: object, after: object) -> Diff:
    """Return how `after` differs from `before`."""
    return _Comparison().run(before, after)


class _Place(NamedTuple):
    """The place of a value, as a link to the value it is in; a path is made only for what is reported."""

    within: "_Place | None"
    old: str | int | None
    new: str | int | None
    rank: int = 0


class _Comparison:
    """The state of one comparison: its changes, what has still to be compared, and what may still be spent."""

    def __init__(self) -> None:
        self._found: list[tuple[list[int], ValueChange]] = []
        self._more = 0
        self._not_compared: list[_Place] = []
        self._waiting: deque[tuple[_Place, object, object]] = deque()
        self._members = Effort(_MOST_MEMBERS)
        self._sameness = Sameness(_MOST_BYTES)
        self._effort = Effort(EFFORT)

    def run(self, before: object, after: object) -> Diff:
        """Compare the two, level by level."""
        self._value(_Place(None, None, None), before, after)
        while self._waiting:
            place, old, new = self._waiting.popleft()
            if not self._members.spend(_NESTED):
                self._not_compared.append(place)
            elif isinstance(old, dict) and isinstance(new, dict):
                self._object(place, old, new)
            elif isinstance(old, list) and isinstance(new, list):
                self._list(place, old, new)
        changes = tuple(change for _, change in sorted(self._found, key=lambda found: found[0]))
        places = tuple(_path(_chain(place), old=False) for place in self._not_compared[:MOST_PLACES])
        return Diff(changes, LeftOut(self._more, places, len(self._not_compared) - len(places)))

    def _value(self, place: _Place, old: object, new: object, *, alone: bool = False) -> None:
        """Compare two values. An `alone` one is compared in detail at once: to see if it is the same costs as much."""
        if type(old) is not type(new):
            self._change(place, old, new)
        elif isinstance(old, dict | list) and isinstance(new, dict | list):
            if alone or not self._sameness.are_same(old, new):
                self._waiting.append((place, old, new))
        elif old != new or (isinstance(old, float) and repr(old) != repr(new)):
            self._change(place, old, new)

    def _object(self, place: _Place, old: dict[str, Any], new: dict[str, Any]) -> None:
        if not self._members.spend(len(old) + len(new)):
            self._not_compared.append(place)
            return
        nested = self._both(place, old, new)
        if old.keys() != new.keys():
            self._either(place, old, new)
        if not self._members.spend(_BESIDE * len(nested)):
            self._not_compared.append(place)
            return
        for child in nested:
            self._value(child, old[str(child.old)], new[str(child.new)], alone=len(nested) == 1)

    def _both(self, place: _Place, old: dict[str, Any], new: dict[str, Any]) -> list[_Place]:
        """Compare the members that both have, and return the places of those that have to be compared in detail."""
        nested = []
        for rank, (key, value) in enumerate(_ordered(place, old)):
            other = new.get(key, _ABSENT)
            kind = type(value)
            if kind is type(other) and (kind is dict or kind is list):
                nested.append(_Place(place, key, key, rank))
            elif other is not _ABSENT and (kind is not type(other) or kind is float or value != other):
                self._value(_Place(place, key, key, rank), value, other)
        return nested

    def _either(self, place: _Place, old: dict[str, Any], new: dict[str, Any]) -> None:
        """Report the members that only one of them has."""
        for rank, (key, value) in enumerate(_ordered(place, old)):
            if key not in new and self._room():
                self._change(_Place(place, key, None, rank), value, None)
        for rank, (key, value) in enumerate(_ordered(place, new), len(old)):
            if key not in old and self._room():
                self._change(_Place(place, None, key, rank), None, value)

    def _list(self, place: _Place, old: list[Any], new: list[Any]) -> None:
        head, tail = same_ends(old, new, self._sameness)
        olds, news = old[head : len(old) - tail], new[head : len(new) - tail]
        if not self._members.spend(len(olds) + len(news)):
            self._not_compared.append(place)
            return
        if len(olds) == len(news) == 1:
            self._value(_Place(place, head, head), olds[0], news[0], alone=True)
            return
        pairs = match_elements(olds, news, self._sameness, self._effort)
        if pairs is None:
            self._change(place, old, new)
            return
        if not self._members.spend(_BESIDE * sum(None not in pair for pair in pairs)):
            self._not_compared.append(place)
            return
        for rank, (at, new_at) in enumerate(pairs):
            if at is None and new_at is not None:
                self._change(_Place(place, None, head + new_at, rank), None, news[new_at])
            elif at is not None and new_at is None:
                self._change(_Place(place, head + at, None, rank), olds[at], None)
            elif at is not None and new_at is not None:
                self._value(_Place(place, head + at, head + new_at, rank), olds[at], news[new_at])

    def _room(self) -> bool:
        """Tell whether one more change may be reported; if not, counts it."""
        if len(self._found) < MOST_CHANGES:
            return True
        self._more += 1
        return False

    def _change(self, place: _Place, before: object, after: object) -> None:
        if not self._room():
            return
        chain = _chain(place)
        old_path, new_path = _path(chain, old=True), _path(chain, old=False)
        if chain and place.old is None:
            change = ValueChange(ChangeKind.ADDED, None, new_path, None, after)
        elif chain and place.new is None:
            change = ValueChange(ChangeKind.REMOVED, old_path, None, before, None)
        else:
            words = None
            if isinstance(before, str) and isinstance(after, str):
                words = compared_words(before, after, self._effort)
            change = ValueChange(ChangeKind.CHANGED, old_path, new_path, before, after, words)
        self._found.append(([link.rank for link in chain], change))


def _chain(place: _Place) -> list[_Place]:
    """Return the places from the outermost to this one."""
    links = []
    while place.within is not None:
        links.append(place)
        place = place.within
    return links[::-1]


def _path(chain: list[_Place], *, old: bool) -> Path:
    return tuple(key for link in chain if (key := link.old if old else link.new) is not None)


def _ordered(place: _Place, members: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """Return the members of a definition as they are read, and those of anything else as the server has them."""
    if place.within is not None:
        return members.items()
    first = [(key, members[key]) for key in _FIRST if key in members]
    return in_turn(first, (member for member in members.items() if member[0] not in _FIRST))
