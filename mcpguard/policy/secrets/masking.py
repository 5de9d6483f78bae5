"""Masks secrets in a value, and leaves the rest unchanged.

Rules kept here:
1. What a rule matches, and what is known to be secret (`spellings`), is replaced by a constant that names the rule.
   Member names are treated like texts. A value without findings is returned itself, not a copy.
2. A secret in encoded text is masked together with the encoding: in base64, the whole run is masked.
3. A secret that extends over several texts is masked in each of them, and equal texts are treated equally.
4. Afterwards no rule matches anything. If masking the matches is not enough, the texts around them are masked, and
   finally all texts.
5. The time is proportional to the value.
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

from mcpguard.policy.secrets.detection import may_hold, rules_for_text
from mcpguard.policy.secrets.layers import Span, TextLayer, layers, pieces, text_of_value
from mcpguard.policy.secrets.rules import rules
from mcpguard.text.linear import compile_pattern

HIDDEN: Final = "(hidden)"
"""Replaces a known secret."""
_OURS: Final = compile_pattern(r"\(hidden(?:: [0-9a-z-]+)?\)")
_SHORTEST_PART: Final = 8
_ROUNDS: Final = 4
_BY_PLACES: Final = 2
"""The number of rounds that mask only the places; later rounds mask whole texts."""
Value = TypeVar("Value")
Spellings = tuple[bytes, ...]
"""Spellings of known secrets, as bytes."""


@dataclass(frozen=True, slots=True)
class MaskedValue(Generic[Value]):
    """A masked value, the rules that found something, and the number of places."""

    value: Value
    rules: tuple[str, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class _Hit:
    """A place in the first text that is to be masked. `rule`: empty for a known secret."""

    start: int
    end: int
    rule: str


def spellings(values: Iterable[str]) -> Spellings:
    """Return the usual spellings of these secrets, the longest first."""
    every = {way.encode(errors="replace") for value in values if value for way in _spellings(value)}
    return tuple(sorted(every, key=lambda way: (-len(way), way)))


def mask_secrets(value: Value, known: Spellings = (), *, maybe: bool = False) -> MaskedValue[Value]:
    """Return the value without certain secrets; with `maybe` also without uncertain ones."""
    text = text_of_value(value)
    if not may_hold(text) and not any(way in text for way in known):
        return MaskedValue(value)
    told, count, left = dict[str, None](), 0, value
    for number in range(_ROUNDS):
        every = _hits(left, known, maybe=maybe)
        if not every:
            return MaskedValue(left, tuple(told), count)
        told |= dict.fromkeys(sorted({hit.rule for hit in every if hit.rule}))
        hits = _merge_overlaps(every)
        count += len(hits) if number == 0 else 0
        left = cast("Value", _rebuilt(left, _replacements(left, hits, whole=number >= _BY_PLACES)))
    return MaskedValue(cast("Value", _rebuilt(left, None)), tuple(told), count)


def spellings_in_json(known: Spellings) -> Spellings | None:
    """Return what the JSON of a value contains wherever its text contains one of these spellings; None where that
    cannot be said, because a spelling may extend over a name and its text."""
    # The text has `name="text"` and line breaks where JSON has quotes, colons and commas.
    if any(b'"' in way or b"\n" in way for way in known):
        return None
    return tuple({json.dumps(way.decode().rstrip("="), ensure_ascii=False)[1:-1].encode() for way in known})


def _spellings(value: str) -> Iterator[str]:
    """Yield the spellings of a value: as it is, encoded as programs encode it, and its lines."""
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


def _hits(value: object, known: Spellings, *, maybe: bool) -> set[_Hit]:
    """Return everything that is found, by its place in the first text."""
    found = set[_Hit]()
    for layer in layers(value):
        for rule in rules_for_text(layer.text):
            if rule.sure or maybe:
                found |= {_Hit(*each, rule.id) for span in rule.places(layer.text) for each in layer.origins(span)}
        for span in _known(layer, known):
            found |= {_Hit(*each, "") for each in layer.origins(span)}
    return found


def _merge_overlaps(hits: Iterable[_Hit]) -> list[_Hit]:
    """Return the hits in order, with overlapping ones merged."""
    apart = list[_Hit]()
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end, hit.rule)):
        if apart and hit.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = _Hit(last.start, max(last.end, hit.end), last.rule or hit.rule)
        else:
            apart.append(hit)
    return apart


def _known(layer: TextLayer, known: Spellings) -> Iterator[Span]:
    """Yield the places of known secrets, except inside one of our own constants."""
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


def _replacements(value: object, hits: list[_Hit], *, whole: bool) -> dict[str, str]:
    """Return the replacement of each text with a hit. The hits do not overlap."""
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
    return {text: _cut(text, _merge_overlaps(found), whole=whole) for text, found in within.items() if found}


def _inside(text: str, begin: int, skipped: int, hits: list[_Hit], first: int) -> Iterator[_Hit]:
    """Yield the hits inside a text, in characters. Its part after `skipped` begins at `begin`."""
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
    """Return the value with replaced texts; if `instead` is None, with every text hidden."""
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
    """Return the name, followed by a number if the name is used already."""
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
    """Return the end of each character, in bytes."""
    return range(1, len(text) + 1) if text.isascii() else list(accumulate(map(_size, text)))
