"""How two versions of a definition differ: what was added, removed and changed, and where.

The values are JSON as `codec.strict` parses it: a tool, a resource, a template or a prompt, or a server's instructions
(a string). Rules kept here:
1. Applying all changes to the one gives the other: the removals from the last to the first, the changes, then the
   additions from the first to the last.
2. `1`, `1.0`, `true` and `"1"` are four values. A member that is null is there. The order of an object's members
   means nothing; that of a list's elements does, and where only it changed, the change is one of the whole list.
3. An element inserted into a list is one change: elements are matched by what they are (`elements`).
4. What is read first is compared first: what a definition says of itself before what is nested in it, level by level.
   So nothing that a server nests or makes up uses up the effort before the description is compared.
5. The cost is bounded, however large and deep the values are. What was `left_out` is said: how many more changes were
   found, and which places were not compared. In those there may be changes or none.

Here nothing is cut or escaped: `before` and `after` are the values themselves. `shown` makes them fit to be read.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from mcpguard.inspection.aligning import Effort
from mcpguard.inspection.elements import differing, matched
from mcpguard.inspection.sameness import Sameness
from mcpguard.inspection.words import EFFORT, Words
from mcpguard.inspection.words import compared as compared_words

MOST_CHANGES: Final = 200
MOST_PLACES: Final = 20
"""That were not compared and are named."""
_MOST_BYTES: Final = 16 * 1024 * 1024
_MOST_MEMBERS: Final = 300_000
_NESTED: Final = 8
"""What looking into something costs, in members."""
_FIRST: Final = ("name", "uri", "uriTemplate", "title", "description", "annotations", "inputSchema", "arguments")

Path = tuple[str | int, ...]


class Kind(StrEnum):
    """What happened to a value."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. Where there was nothing, the path is None and so is the value.

    Both paths of what was changed are equal unless it is in a list where something was inserted or removed before it.
    """

    kind: Kind
    old_path: Path | None
    new_path: Path | None
    before: object
    after: object
    words: Words | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a diff does not contain: changes beyond the most, and places (the first ones, and how many more)."""

    changes: int = 0
    places: tuple[Path, ...] = ()
    more_places: int = 0


@dataclass(frozen=True, slots=True)
class Diff:
    """All differences, in the order of the definition, unless something was left out."""

    changes: tuple[Change, ...]
    left_out: LeftOut = LeftOut()

    @property
    def complete(self) -> bool:
        return self.left_out == LeftOut()


def compared(before: object, after: object) -> Diff:
    """How `after` differs from `before`."""
    return _Comparison().of(before, after)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where something is, as a link to what it is in; a path is made only for what is reported."""

    within: "_Place | None"
    old: str | int | None
    new: str | int | None
    rank: int = 0

    def chain(self) -> list["_Place"]:
        links, link = [], self
        while link.within is not None:
            links.append(link)
            link = link.within
        return links[::-1]


class _Comparison:
    """The state of one comparison: what was found, what has to be looked into, and what may still be spent."""

    def __init__(self) -> None:
        self._found: list[tuple[list[int], Change]] = []
        self._more = 0
        self._not_compared: list[_Place] = []
        self._waiting: deque[tuple[_Place, object, object]] = deque()
        self._members = Effort(_MOST_MEMBERS)
        self._sameness = Sameness(_MOST_BYTES)
        self._effort = Effort(EFFORT)

    def of(self, before: object, after: object) -> Diff:
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
        places = tuple(_path(place.chain(), old=False) for place in self._not_compared[:MOST_PLACES])
        return Diff(changes, LeftOut(self._more, places, len(self._not_compared) - len(places)))

    def _value(self, place: _Place, old: object, new: object, *, differs: bool = False) -> None:
        if type(old) is not type(new):
            self._change(place, old, new)
        elif isinstance(old, dict | list):
            if differs or not self._sameness.known(old, new):
                self._waiting.append((place, old, new))
        elif old != new or (isinstance(old, float) and repr(old) != repr(new)):
            self._change(place, old, new)

    def _object(self, place: _Place, old: dict[str, Any], new: dict[str, Any]) -> None:
        if not self._members.spend(len(old) + len(new)):
            self._not_compared.append(place)
            return
        alone = len(old) == len(new) == 1
        for rank, key in enumerate(_ordered(place, old)):
            value = old[key]
            if key in new:
                if type(value) is not str or value != new[key]:
                    self._value(_Place(place, key, key, rank), value, new[key], differs=alone)
            else:
                self._change(_Place(place, key, None, rank), value, None)
        for rank, key in enumerate(_ordered(place, new), len(old)):
            if key not in old:
                self._change(_Place(place, None, key, rank), None, new[key])

    def _list(self, place: _Place, old: list[Any], new: list[Any]) -> None:
        head, tail = differing(old, new, self._sameness)
        olds, news = old[head : len(old) - tail], new[head : len(new) - tail]
        if not self._members.spend(len(olds) + len(news)):
            self._not_compared.append(place)
            return
        pairs = matched(olds, news, self._sameness, self._effort)
        if pairs is None:
            self._change(place, old, new)
            return
        for rank, (at, new_at) in enumerate(pairs):
            if at is None and new_at is not None:
                self._change(_Place(place, None, head + new_at, rank), None, news[new_at])
            elif at is not None and new_at is None:
                self._change(_Place(place, head + at, None, rank), olds[at], None)
            elif at is not None and new_at is not None:
                self._value(_Place(place, head + at, head + new_at, rank), olds[at], news[new_at])

    def _change(self, place: _Place, before: object, after: object) -> None:
        if len(self._found) == MOST_CHANGES:
            self._more += 1
            return
        chain = place.chain()
        leaf = chain[-1] if chain else None
        if leaf and leaf.old is None:
            change = Change(Kind.ADDED, None, _path(chain, old=False), None, after)
        elif leaf and leaf.new is None:
            change = Change(Kind.REMOVED, _path(chain, old=True), None, before, None)
        else:
            words = None
            if isinstance(before, str) and isinstance(after, str):
                words = compared_words(before, after, self._effort)
            change = Change(Kind.CHANGED, _path(chain, old=True), _path(chain, old=False), before, after, words)
        self._found.append(([link.rank for link in chain], change))


def _path(chain: list[_Place], *, old: bool) -> Path:
    return tuple(key for link in chain if (key := link.old if old else link.new) is not None)


def _ordered(place: _Place, members: dict[str, Any]) -> Iterable[str]:
    """A definition's members as they are read; all others as the server has put them."""
    if place.within is not None:
        return members
    return sorted(members, key=lambda key: _FIRST.index(key) if key in _FIRST else len(_FIRST))
