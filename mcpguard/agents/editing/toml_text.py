"""Appends server tables to TOML text, and removes them line by line."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpguard.agents.editing.understanding import FileNotUnderstood

_BARE: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def put_member(text: str, keys: tuple[str, ...], name: str, entry: object) -> str:
    """Return the text with this table at its end, and without an earlier one of the same name."""
    if not isinstance(entry, Mapping):
        raise FileNotUnderstood("would need a member that is no table")
    end = "\r\n" if "\r\n" in text else "\n"
    left = remove_member(text, keys, name)
    if left and not left.endswith("\n"):
        left += end
    return left + (end if left.strip() else "") + "".join(line + end for line in _written((*keys, name), entry))


def remove_member(text: str, keys: tuple[str, ...], name: str) -> str:
    """Return the text without this table and those below it."""
    return "".join(_cut(text.splitlines(keepends=True), _Table((*keys, name))))


class _Table:
    """A table, identified by its path."""

    def __init__(self, path: tuple[str, ...]) -> None:
        self._path = path

    def begins_at(self, line: str) -> bool:
        """Tell whether the line is the header of the table, or of one below it."""
        head = _head(line)
        return head is not None and head[: len(self._path)] == self._path


def _cut(lines: list[str], table: _Table) -> list[str]:
    """Return the lines without those of the table. Comments above the next header belong to that."""
    left: list[str] = []
    inside = False
    waiting: list[str] = []
    for line in lines:
        if _head(line) is not None:
            was, inside = inside, table.begins_at(line)
            if inside and not was and left and not left[-1].strip():
                left.pop()  # the blank line before a table is removed with it
            if not inside:
                left += waiting
            waiting = []
        if not inside:
            left.append(line)
        elif line.strip() and not line.lstrip().startswith("#"):
            waiting = []
        else:
            waiting.append(line)
    return left + [line for line in waiting if line.strip()]


def _head(line: str) -> tuple[str, ...] | None:
    """Return the path of the table whose header is this line; None if it is no header."""
    if not line.lstrip().startswith("["):
        return None
    try:
        at: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    path: list[str] = []
    while isinstance(at, list) or (isinstance(at, dict) and at):
        if isinstance(at, list):
            at = at[-1]
        else:
            ((key, at),) = at.items()
            path.append(key)
    return tuple(path)


def _written(path: tuple[str, ...], entry: Mapping[str, object]) -> Iterator[str]:
    below = {key: value for key, value in entry.items() if isinstance(value, Mapping)}
    if len(below) < len(entry) or not entry:
        yield f"[{'.'.join(map(_key, path))}]"
    for key, value in entry.items():
        if key not in below:
            yield f"{_key(key)} = {_value(value)}"
    for number, (key, members) in enumerate(below.items()):
        if number or len(below) < len(entry):
            yield ""
        yield from _written((*path, key), members)


def _key(key: str) -> str:
    return key if key and _BARE.issuperset(key) else _text(key)


def _value(value: object) -> str:
    match value:
        case str():
            return _text(value)
        case bool() | int() | float():
            return json.dumps(value)
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case Mapping():
            return f"{{ {', '.join(f'{_key(str(key))} = {_value(each)}' for key, each in value.items())} }}"
        case _:
            raise FileNotUnderstood("cannot hold this value, because TOML has no such type")


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
