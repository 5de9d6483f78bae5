"""Adds and removes members in JSON text that may contain comments and trailing commas.

Offsets are computed in a copy in which comments are replaced by blanks, so that every position stays the same.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import JSONDecoder
from typing import Any, Final

from mcpguard.agents.editing.understanding import FileNotUnderstood
from mcpguard.agents.jsonc import without_commas, without_comments

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_LINE_END: Final = re.compile(r"[ \t]*(?:\r?\n|\Z)")
_DECODER: Final = JSONDecoder()
_UNIT: Final = "  "


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    begin: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """The beginning and end of an object, including its braces, and its members."""

    begin: int
    end: int
    members: tuple[_Member, ...]

    def member(self, name: str) -> _Member | None:
        return next((each for each in self.members if each.name == name), None)


def put_member(text: str, keys: tuple[str, ...], name: str, entry: object) -> str:
    """Return the text with the member in the object at the keys; missing objects on the way are created."""
    if not without_comments(text).strip():
        return text + json.dumps(_nested((*keys, name), entry), indent=_UNIT, ensure_ascii=False) + "\n"
    at = _whole(text)
    path = [*keys, name]
    for depth, key in enumerate(path):
        member = at.member(key)
        if member is None:
            return _added(text, at, key, _nested(tuple(path[depth + 1 :]), entry))
        if depth == len(keys):
            return _replaced(text, at, member, entry)
        inner = _object(text, member.value)
        if inner is None:
            return _replaced(text, at, member, _nested(tuple(path[depth + 1 :]), entry))
        at = inner
    raise AssertionError("the path has an end")


def remove_member(text: str, keys: tuple[str, ...], name: str) -> str:
    """Return the text without a member that it has. Raises FileNotUnderstood."""
    at = _whole(text)
    for key in keys:
        member = at.member(key)
        inner = _object(text, member.value) if member else None
        if inner is None:
            raise FileNotUnderstood("does not have these servers")
        at = inner
    gone = at.member(name)
    if gone is None:
        raise FileNotUnderstood("does not have this server")
    plain = without_comments(text)
    comma = _past(plain, gone.end)
    followed = plain[comma] == ","
    first = gone is at.members[0]
    begin, end = _span(text, gone.begin, comma + 1 if followed else gone.end, first=first)
    left = text[:begin] + text[end:]
    if not followed and not first:
        before = at.members[at.members.index(gone) - 1]
        comma = plain.index(",", before.end)
        left = left[:comma] + left[comma + 1 :]
    return left


def _span(text: str, begin: int, end: int, *, first: bool) -> tuple[int, int]:
    """Return the span to cut: the whole line if nothing else is on it, or else the blanks on one side."""
    line = len(text[:begin].rstrip(" \t"))
    if _LINE_END.match(text, end) and line > 0 and text[line - 1] == "\n":
        return line - (2 if text[line - 2 : line] == "\r\n" else 1), end
    if first:
        return begin, end + len(text[end:]) - len(text[end:].lstrip(" \t"))
    return line, end


def _nested(keys: tuple[str, ...], entry: object) -> Any:  # noqa: ANN401 - JSON of any kind
    made = entry
    for key in reversed(keys):
        made = {key: made}
    return made


def _added(text: str, at: _Object, key: str, value: object) -> str:
    """Return the text with a new member at the end of the object, in the style of its other members."""
    kept = at.begin + 1 + len(text[at.begin + 1 : at.end - 1].rstrip(" \t\r\n"))
    if not at.members:
        outer, line = _indent(text, at.begin), _newline(text)
        member = _member(text, key, value, outer + _unit(text))
        return f"{text[:kept]}{member}{line}{outer}{text[at.end - 1 :]}"
    last = at.members[-1].end
    plain = without_comments(text)
    trailing = plain[_past(plain, last)] == ","
    indent = _own_line(text, at)
    if indent is None and text[last:kept] != plain[last:kept]:
        indent = _indent(text, at.begin)  # on a new line: the comment before it may go to the end of its line
    member = _member(text, key, value, indent)
    if trailing:
        return f"{text[:kept]}{member},{text[kept:]}"
    return f"{text[:last]},{text[last:kept]}{member}{text[kept:]}"


def _member(text: str, key: str, value: object, indent: str | None) -> str:
    """Return a member with the line break or blank before it."""
    begin = " " if indent is None else _newline(text) + indent
    return f"{begin}{json.dumps(key, ensure_ascii=False)}: {_written(text, value, indent)}"


def _own_line(text: str, at: _Object) -> str | None:
    """Return the indentation of the object's members; None where they are on the same line as its brace."""
    begin = at.members[0].begin
    return _indent(text, begin) if "\n" in text[at.begin : begin] else None


def _replaced(text: str, at: _Object, member: _Member, value: object) -> str:
    return text[: member.value] + _written(text, value, _own_line(text, at)) + text[member.end :]


def _written(text: str, value: object, indent: str | None) -> str:
    """Return the value in the file's style; on one line where its neighbours are."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (_newline(text) + indent).join(lines)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """Return the indentation of the file's first member."""
    at = _whole(text)
    return (_indent(text, at.members[0].begin) if at.members else "") or _UNIT


def _indent(text: str, at: int) -> str:
    """Return the blanks at the beginning of the line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _whole(text: str) -> _Object:
    plain = without_comments(text)
    found = _object(text, _past(plain, 0))
    if found is None:
        raise FileNotUnderstood("must contain an object")
    return found


def _object(text: str, at: int) -> _Object | None:
    """Return the object that begins at this position; None if something else does."""
    plain = without_commas(without_comments(text))
    if plain[at : at + 1] != "{":
        return None
    try:
        members = tuple(_members(plain, at))
        _, end = _DECODER.raw_decode(plain, at)
    except (ValueError, IndexError, RecursionError):
        raise FileNotUnderstood("cannot be parsed") from None
    return _Object(at, end, members)


def _members(plain: str, at: int) -> Iterator[_Member]:
    at = _past(plain, at + 1)
    while plain[at] != "}":
        begin = at
        name, at = _DECODER.raw_decode(plain, at)
        value = _past(plain, _past(plain, at) + 1)
        _, at = _DECODER.raw_decode(plain, value)
        yield _Member(name, begin, value, at)
        at = _past(plain, at)
        at = _past(plain, at + 1) if plain[at] == "," else at


def _past(plain: str, at: int) -> int:
    found = _BLANKS.match(plain, at)
    return found.end() if found else at
