"""Measures how much work a schema can cause, before it is used.

Rules kept here:
1. A small schema can expand enormously through references. Its weight is its size after every reference is replaced by
   its target; a recursive reference counts once, because the validator caches its result.
2. Constraints on the same value are not nested deeper than `DEEPEST`: the validator itself is limited only by the
   stack. A constraint that is defined by itself is meaningless and refused.
3. Measuring is limited too: a reference may have many possible targets in many schemas.
4. If the target of a reference is ambiguous, all possible targets count.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

DEEPEST: Final = 100
HEAVIEST: Final = 100_000
MOST_STEPS: Final = 75_000
"""The limit for measuring. Real schemas of 256 KiB take 70,000 steps at most."""
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_ANCHORS: Final = ("$anchor", "$dynamicAnchor", "$id", "id")
_UNASKED: Final = frozenset({"$defs", "definitions", "description", "title", "$comment", "examples", "default"})
"""Keywords without constraints of their own."""
_MAPS: Final = frozenset({"dependentSchemas", "dependencies"})
_SAME_VALUE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
"""Keywords that constrain the same value; all others constrain the values inside it."""


class TooHeavy(ValueError):
    """The schema expands too much, is nested too deeply, or is defined by itself."""


@dataclass(slots=True)
class SchemaWeight:
    """The measured schema. `cyclic`: it is recursive. `patterns`: all its patterns."""

    weight: int = 0
    cyclic: bool = False
    patterns: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Step:
    """A part that is being weighed, and what is left of it."""

    part: Mapping[str, Any]
    rest: Iterator[object]
    weight: int = 1


def weigh_schema(schema: Mapping[str, Any]) -> SchemaWeight:
    """Return the weight of the schema. Raises TooHeavy."""
    scales = _Scales(schema)
    scales.measure()
    scales.found.weight = scales.weigh(schema)
    return scales.found


class _Scales:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.found = SchemaWeight()
        self._schemas: list[Mapping[str, Any]] = [schema]
        self._anchors: dict[str, list[object]] = {}
        self._parts: list[Mapping[str, Any]] = []
        self._heights: dict[int, int | None] = {}
        self._steps = 0
        self._look(schema, 0)

    def weigh(self, schema: Mapping[str, Any]) -> int:
        """Return the weight with all references expanded."""
        known: dict[int, int | None] = {id(schema): None}
        steps = [_Step(schema, self._within(schema))]
        weight = 0
        while steps:
            step = steps[-1]
            for part in step.rest:
                self._count()
                if isinstance(part, dict) and id(part) not in known:
                    known[id(part)] = None
                    steps.append(_Step(part, self._within(part)))
                    break
                before = known[id(part)] if isinstance(part, dict) else 1
                self.found.cyclic |= before is None
                step.weight += before or 1
            else:
                steps.pop()
                known[id(step.part)] = weight = step.weight
                if steps:
                    steps[-1].weight += weight
            if step.weight > HEAVIEST:
                raise TooHeavy
        return weight

    def measure(self) -> None:
        """Check the nesting of the constraints of one value. Raises TooHeavy."""
        for part in self._parts:
            self._height(part, 0)

    def _count(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise TooHeavy

    def _height(self, part: object, depth: int) -> int:
        self._count()
        if isinstance(part, list):
            return max((self._height(each, depth) for each in part), default=0)
        if not isinstance(part, dict):
            return 0
        height = self._heights.get(id(part), -1)
        if height is None or depth + max(height, 0) > DEEPEST:
            raise TooHeavy
        if height < 0:
            self._heights[id(part)] = None
            height = 1 + max((self._height(each, depth + 1) for each in self._more(part)), default=0)
            self._heights[id(part)] = height
        return height

    def _more(self, part: Mapping[str, Any]) -> Iterator[object]:
        """Yield further constraints of the same value."""
        for key, value in part.items():
            if key in _SAME_VALUE:
                yield value
            elif key in _MAPS and isinstance(value, dict):
                yield from value.values()
            elif key in _REFERENCES and isinstance(value, str):
                yield from self._targets(value)

    def _within(self, part: Mapping[str, Any]) -> Iterator[object]:
        """Yield all constraints of a part, of any value."""
        for key, value in part.items():
            if key in _REFERENCES and isinstance(value, str):
                yield from self._targets(value)
            elif key not in _UNASKED:
                yield from _flat(value)

    def _look(self, part: object, depth: int) -> None:
        """Collect everything that a reference can lead to, and every pattern."""
        if depth > DEEPEST:
            raise TooHeavy
        self._count()
        inner: Iterable[object] = ()
        if isinstance(part, list):
            inner = part
        elif isinstance(part, dict):
            self._note(part)
            inner = part.values()
        for each in inner:
            self._look(each, depth + 1)

    def _note(self, part: dict[str, Any]) -> None:
        self._parts.append(part)
        for key in _ANCHORS:
            if isinstance(name := part.get(key), str):
                self._anchors.setdefault(name.removeprefix("#"), []).append(part)
                if key in ("$id", "id") and part is not self._schemas[0]:
                    self._schemas.append(part)
        if isinstance(pattern := part.get("pattern"), str):
            self.found.patterns.add(pattern)
        if isinstance(patterns := part.get("patternProperties"), dict):
            self.found.patterns.update(patterns)

    def _targets(self, reference: str) -> Iterator[object]:
        fragment = unquote(reference.partition("#")[2])
        if fragment and not fragment.startswith("/"):
            yield from self._anchors.get(fragment, ())
            return
        steps = 1 + fragment.count("/")
        for schema in self._schemas:
            self._count(steps)
            try:
                yield _at(schema, fragment)
            except (KeyError, IndexError, ValueError, TypeError):
                continue


def _flat(value: object) -> Iterator[object]:
    if isinstance(value, list):
        for each in value:
            yield from _flat(each)
    yield value


def _at(part: Any, pointer: str) -> object:  # noqa: ANN401 - any JSON
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        part = part[int(key)] if isinstance(part, list) else part[key]
    return part


def count_values(value: object) -> int:
    """Return the number of values in this one, with itself."""
    count, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        count += 1
        if isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
    return count
