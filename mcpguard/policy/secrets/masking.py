"""Takes what is secret out of a value, and leaves the rest as it is.

Rules kept here:
1. What a rule finds, and what is known to be secret (`ways`), is replaced by a constant that says which rule it was.
   Names of objects are treated like texts. A value in which nothing is found is returned itself, not a copy.
2. What is found in something encoded takes with it what it was decoded from: of base64 the whole run.
3. A secret that lies in several texts is taken out of each of them, and texts that are the same are treated the same.
4. Afterwards nothing is found any more. Where taking out the places is not enough, the texts around them go too, and
   at last all texts.
5. It takes time in proportion to the value.
"""

import base64
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Final, Generic, TypeVar, cast
from urllib.parse import quote

from mcpguard.policy.secrets.finding import asked
from mcpguard.policy.secrets.layers import Span, TextLayer, layers, pieces
from mcpguard.policy.secrets.rules import rules
from mcpguard.text.linear import compile_pattern

HIDDEN: Final = "(hidden)"
"""In the place of what was known to be secret."""
_OURS: Final = compile_pattern(r"\(hidden(?:: [0-9a-z-]+)?\)")
_SHORTEST_PART: Final = 8
_ROUNDS: Final = 4
_BY_PLACES: Final = 2
"""So many rounds only the places are taken out, in those after them whole texts."""
Value = TypeVar("Value")
Ways = tuple[bytes, ...]
"""How known secrets may be written."""


@dataclass(frozen=True, slots=True)
class Masked(Generic[Value]):
    """What is left of a value; by which rules something was found, and in how many places."""

    value: Value
    rules: tuple[str, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class _Hit:
    """Where something is in the lowest text, and what it is. `rule`: empty if it was known."""

    start: int
    end: int
    rule: str


def ways(values: Iterable[str]) -> Ways:
    """The usual ways to write these secrets, the longest first."""
    every = {way.encode(errors="replace") for value in values if value for way in _ways(value)}
    return tuple(sorted(every, key=lambda way: (-len(way), way)))


def masked(value: Value, known: Ways = (), *, maybe: bool = False) -> Masked[Value]:
    """The value without what surely is secret; with `maybe` also without what may well be none."""
    told, count, left = dict[str, None](), 0, value
    for number in range(_ROUNDS):
        every = _hits(left, known, maybe=maybe)
        if not every:
            return Masked(left, tuple(told), count)
        told |= dict.fromkeys(sorted({hit.rule for hit in every if hit.rule}))
        hits = _apart(every)
        count += len(hits) if number == 0 else 0
        left = cast("Value", _rebuilt(left, _instead(left, hits, whole=number >= _BY_PLACES)))
    return Masked(cast("Value", _rebuilt(left, None)), tuple(told), count)


def _ways(value: str) -> Iterator[str]:
    """How a value may stand in a text: as it is, written as other programs write it, or a line of it."""
    data = value.encode(errors="replace")
    yield value
    yield quote(value, safe="")
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield base64.b64encode(data).decode().rstrip("=")
    yield base64.urlsafe_b64encode(data).decode().rstrip("=")
    yield data.hex()
    yield data.hex().upper()
    yield from (line for line in map(str.strip, value.splitlines()) if len(line) >= _SHORTEST_PART)


@cache
def _constants() -> frozenset[bytes]:
    return frozenset({HIDDEN.encode(), *(_constant(rule.id).encode() for rule in rules())})


def _constant(rule: str) -> str:
    return f"(hidden: {rule})" if rule else HIDDEN


def _hits(value: object, known: Ways, *, maybe: bool) -> set[_Hit]:
    """Everything that is found, by where it is from."""
    found = set[_Hit]()
    for layer in layers(value):
        for rule in asked(layer.text):
            if rule.sure or maybe:
                found |= {_Hit(*each, rule.id) for span in rule.places(layer.text) for each in layer.origins(span)}
        for span in _known(layer, known):
            found |= {_Hit(*each, "") for each in layer.origins(span)}
    return found


def _apart(hits: Iterable[_Hit]) -> list[_Hit]:
    """In order, those that overlap as one."""
    apart = list[_Hit]()
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end, hit.rule)):
        if apart and hit.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = _Hit(last.start, max(last.end, hit.end), last.rule or hit.rule)
        else:
            apart.append(hit)
    return apart


def _known(layer: TextLayer, known: Ways) -> Iterator[Span]:
    """Where known secrets are, but for what they have in common with our own constants in such a constant."""
    text = layer.text
    spans = [span for way in known if way in text for span in _each(way, text)]
    if not spans:
        return
    ours = [found.span() for found in _OURS.finditer(text) if found[0] in _constants()]
    starts = [start for start, _ in ours]
    for span in spans:
        at = bisect_right(starts, span[0]) - 1
        if at < 0 or span[1] > ours[at][1]:
            yield span


def _each(way: bytes, text: bytes) -> Iterator[Span]:
    at = text.find(way)
    while at >= 0:
        yield at, at + len(way)
        at = text.find(way, at + len(way))


def _instead(value: object, hits: list[_Hit], *, whole: bool) -> dict[str, str]:
    """What stands in the place of each text in which there is something. The hits are apart."""
    within: dict[str, list[_Hit]] = {}
    at, first = 0, 0
    for piece in pieces(value):
        name, named = piece.name[piece.skipped :], at
        texts = [(piece.name, named, piece.skipped)]
        at = named + _size(name)
        if piece.text is not None:
            texts.append((piece.text, at + 2, 0))
            at += 2 + _size(piece.text) + 1
        while first < len(hits) and hits[first].end <= named:
            first += 1
        for text, begin, skipped in texts:
            within.setdefault(text, []).extend(_inside(text, begin, skipped, hits, first))
        at += 1
    return {text: _cut(text, _apart(found), whole=whole) for text, found in within.items() if found}


def _inside(text: str, begin: int, skipped: int, hits: list[_Hit], first: int) -> Iterator[_Hit]:
    """The hits in a text of which what comes after `skipped` begins there, by its characters."""
    shown = text[skipped:]
    end, places = begin + _size(shown), None
    for number in range(first, len(hits)):
        hit = hits[number]
        if hit.start >= end:
            return
        start, stop = max(hit.start, begin) - begin, min(hit.end, end) - begin
        if start < stop:
            if places is None:
                places = _ends(shown)
            yield _Hit(skipped + bisect_right(places, start), skipped + bisect_left(places, stop) + 1, hit.rule)


def _cut(text: str, hits: list[_Hit], *, whole: bool) -> str:
    if whole:
        return _constant(hits[0].rule)
    parts, done = list[str](), 0
    for hit in hits:
        parts += text[done : hit.start], _constant(hit.rule)
        done = hit.end
    return "".join((*parts, text[done:]))


def _rebuilt(value: object, instead: dict[str, str] | None) -> object:
    """The value with other texts; without any of its own if there is nothing to say which."""
    if isinstance(value, str):
        return HIDDEN if instead is None else instead.get(value, value)
    if isinstance(value, list):
        return [_rebuilt(each, instead) for each in value]
    if not isinstance(value, dict):
        return value
    made: dict[object, object] = {}
    used: dict[object, int] = {}
    for key, each in value.items():
        name = _rebuilt(key, instead)
        if name != key or name in made:
            name = _unused(name, made, used, value)
        made[name] = _rebuilt(each, instead)
    return made


def _unused(name: object, made: dict[object, object], used: dict[object, int], value: dict[object, object]) -> object:
    """The name, with a number behind it where there is one like it."""
    number = used.get(name, 1)
    other = name if number == 1 else f"{name} {number}"
    while other in made or (other in value and other != name):
        number += 1
        other = f"{name} {number}"
    used[name] = number + 1
    return other


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def _ends(text: str) -> range | list[int]:
    """Where each character ends, in bytes."""
    return range(1, len(text) + 1) if text.isascii() else list(accumulate(map(_size, text)))
