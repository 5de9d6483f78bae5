"""A definition as JSON text for a page, with the places that findings point to.

Rules kept here:
1. The text is exactly the definition: strings are escaped as in JSON, so that no string looks like what comes after it.
   Invisible characters are left for the page to show.
2. The text is bounded: it says what is nested too deeply, or has no room, and is left out.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mcpguard.domain.servers.listings import INSTRUCTIONS
from mcpguard.web.visible_text import FindingMark

LONGEST: Final = 100_000
DEEPEST: Final = 40
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Raw:
    """The text, where findings are in it, and how many of its characters are left out."""

    text: str
    marks: tuple[FindingMark, ...]
    left_out: int


@dataclass(slots=True)
class _Writing:
    marks: Mapping[str, Sequence[FindingMark]]
    parts: list[str] = field(default_factory=list)
    found: list[FindingMark] = field(default_factory=list)
    length: int = 0

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def string(self, text: str, path: str) -> None:
        """Write a string in quotes; the marks at its path move with what is escaped in it."""
        marks = self.marks.get(path, ())
        self.put('"')
        edges = {edge for mark in marks for edge in (mark.start, mark.end)}
        at: dict[int, int] = {}
        written: list[str] = []
        used = 0
        for place, char in enumerate(text):
            if place in edges:
                at[place] = self.length + used
            shown = _ESCAPES.get(char, char)
            written.append(shown)
            used += len(shown)
        at[len(text)] = self.length + used
        self.put("".join(written))
        self.put('"')
        self.found += [
            FindingMark(at[mark.start], at[mark.end], mark.number, mark.severity)
            for mark in marks
            if mark.start in at and mark.end in at
        ]

    def value(self, value: object, path: str, depth: int) -> None:
        indent = "\n" + "  " * (depth + 1)
        match value:
            case str():
                self.string(value, path)
            case dict() | list() if value and depth < DEEPEST:
                opens, closes = "{}" if isinstance(value, dict) else "[]"
                self.put(opens)
                for number, (name, each) in enumerate(_members(value)):
                    self.put(("," if number else "") + indent)
                    below = f"{path}/{_escaped(name)}"
                    if isinstance(value, dict):
                        self.string(name, f"key:{below}")
                        self.put(": ")
                    self.value(each, below, depth + 1)
                    if self.length > LONGEST:
                        return
                self.put("\n" + "  " * depth + closes)
            case dict() | list() if value:
                self.put("⟨nested more deeply than is shown⟩")
            case _:
                self.put(json.dumps(value, ensure_ascii=False))


def raw(definition: object, marks: Mapping[str, Sequence[FindingMark]]) -> Raw:
    """Write a definition. `marks` are by the paths of strings, as findings name them."""
    writing = _Writing(marks)
    if isinstance(definition, str):
        whole = marks.get("/" + INSTRUCTIONS, ())
        return _cut(definition, [*whole])
    writing.value(definition, "", 0)
    return _cut("".join(writing.parts), writing.found)


def _cut(text: str, marks: Sequence[FindingMark]) -> Raw:
    shown = text[:LONGEST]
    return Raw(shown, tuple(each for each in marks if each.end <= len(shown)), len(text) - len(shown))


def _members(value: dict[str, object] | list[object]) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        yield from value.items()
    else:
        yield from ((str(number), each) for number, each in enumerate(value))


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
