"""Tables of servers in TOML text: put at its end, and cut out line by line."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpguard.agents.editing.understanding import FileNotUnderstood
from mcpguard.agents.program import Entry

_BARE: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def having(text: str, keys: tuple[str, ...], name: str, entry: Entry) -> str:
    """The text with this table at its end; where it was before, it is no more."""
    end = "\r\n" if "\r\n" in text else "\n"
    left = without(text, keys, name)
    if left and not left.endswith("\n"):
        left += end
    return left + (end if left.strip() else "") + "".join(line + end for line in _written((*keys, name), entry))


def without(text: str, keys: tuple[str, ...], name: str) -> str:
    """The text without this table and those below it."""
    return "".join(_cut(text.splitlines(keepends=True), _Table((*keys, name))))


class _Table:
    """A table by its path."""

    def __init__(self, path: tuple[str, ...]) -> None:
        self._path = path

    def begins_at(self, line: str) -> bool:
        """Whether the line is its head, or that of one below it."""
        head = _head(line)
        return head is not None and head[: len(self._path)] == self._path


def _cut(lines: list[str], table: _Table) -> list[str]:
    """Without its lines. What stands above the next head belongs to that."""
    left: list[str] = []
    inside = False
    waiting: list[str] = []
    for line in lines:
        if _head(line) is not None:
            was, inside = inside, table.begins_at(line)
            if inside and not was and left and not left[-1].strip():
                left.pop()  # one blank line goes with the table that it sets apart
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
    """The path of the table that begins with this line."""
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


def _written(path: tuple[str, ...], entry: Entry) -> Iterator[str]:
    yield f"[{'.'.join(map(_key, path))}]"
    below = {key: value for key, value in entry.items() if isinstance(value, Mapping)}
    for key, value in entry.items():
        if key not in below:
            yield f"{_key(key)} = {_value(value)}"
    for key, members in below.items():
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
        case _:
            raise FileNotUnderstood("would have to say what TOML cannot")


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
