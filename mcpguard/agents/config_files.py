"""Reads the servers declared in the configuration files of programs.

Rules kept here:
1. A file that cannot be read or parsed affects no other, and a message states the reason. A message repeats nothing of
   a file except a name, with hidden characters made visible.
2. A file is parsed as its program parses it where that is unambiguous: comments, trailing commas and a byte order mark
   are skipped. Content that two parsers could read differently, such as a duplicate key, is rejected.
3. Files that other people may have written have lower limits than the user's own.
"""

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcpguard.agents.jsonc import BOM, plain
from mcpguard.agents.program import EVERY, AgentProgram, ConfigFile, EntryOrigin, FileForm, Home
from mcpguard.codec.strict import StrictError, parse
from mcpguard.text.visible import visible

LARGEST_OWN: Final = 32 * 1024 * 1024
"""Bytes. Claude Code keeps much more than servers in its file."""
LARGEST_FOREIGN: Final = 1024 * 1024
MOST_ITEMS: Final = 500
"""Entries in one file."""
_MOST_DEPTH: Final = 128
_LONG_KEY: Final = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++\s*+\.\s*+){64}""")
"""Matches a key with many parts. Parsing one takes time quadratic in their number (a denial of service)."""


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a file."""

    program: AgentProgram
    place: ConfigFile
    label: str
    entry: object
    around: EntryOrigin

    @property
    def scope(self) -> str:
        """The entry's scope, with the project's folder where the file itself is not in the project."""
        own = self.around.folder is not None and EVERY in self.place.keys
        return f"{self.place.scope} {self.around.folder}" if own else self.place.scope


@dataclass(frozen=True, slots=True)
class Contents:
    """The servers in a file. `there`: whether the file exists. `problem`: why it cannot be read, or empty."""

    program: AgentProgram
    place: ConfigFile
    there: bool
    items: tuple[Item, ...] = ()
    problem: str = ""


class Unclear(ValueError):
    """A file cannot be read or parsed. The message follows the file's name."""


def read_files(program: AgentProgram, home: Home, folder: Path) -> tuple[Contents, ...]:
    """Read the program's files, in the order of its places. A file with several places is read for each."""
    return tuple(contents(program, place, home) for place in program.places(home, folder))


def contents(program: AgentProgram, place: ConfigFile, home: Home) -> Contents:
    try:
        data = read_file(place)
        if data is None:
            return Contents(program, place, there=False)
        servers = [*_at(parse_file(data, place), place.keys, place.folder)]
    except Unclear as error:
        return Contents(program, place, there=True, problem=str(error))
    items = [
        Item(program, place, label, entry, EntryOrigin(home, of))
        for of, every in servers
        for label, entry in every.items()
    ]
    if len(items) > MOST_ITEMS:
        return Contents(program, place, there=True, problem=f"declares more than {MOST_ITEMS} servers")
    return Contents(program, place, there=True, items=tuple(items))


def read_file(place: ConfigFile) -> bytes | None:
    """Return the bytes of the file; None if it does not exist. Raises Unclear."""
    most = LARGEST_OWN if place.folder is None else LARGEST_FOREIGN
    try:
        descriptor = os.open(place.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unclear(f"cannot be read: {error.strerror}") from None
    except ValueError:
        raise Unclear("cannot be read: its path is invalid") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unclear("is not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as opened:
            data = opened.read(most + 1)
    finally:
        os.close(descriptor)
    if len(data) > most:
        raise Unclear(f"is larger than {most} bytes")
    return data


def parse_file(data: bytes, place: ConfigFile) -> Mapping[str, object]:
    """Parse the bytes. An empty file declares nothing. Raises Unclear."""
    if not data.removeprefix(BOM).strip():
        return {}
    value = _toml(data) if place.form is FileForm.TOML else _json(data)
    if not isinstance(value, Mapping):
        raise Unclear("must contain an object")
    return value


def _json(data: bytes) -> object:
    try:
        return parse(data, max_bytes=LARGEST_OWN, max_depth=_MOST_DEPTH)
    except StrictError:
        pass
    try:
        return parse(plain(data), max_bytes=LARGEST_OWN, max_depth=_MOST_DEPTH)
    except StrictError as error:
        place = f" (line {error.line}, column {error.column})" if error.line is not None else ""
        raise Unclear(f"cannot be parsed{place}: {visible(error.message)}") from None


def _toml(data: bytes) -> object:
    try:
        text = data.removeprefix(BOM).decode()
    except UnicodeDecodeError:
        raise Unclear("is not UTF-8 text") from None
    if _LONG_KEY.search(text):
        raise Unclear("has a key with too many parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at [a-z0-9, ]+\)\Z", str(error))  # the rest may repeat a value of the file
        raise Unclear(f"is not valid TOML {place[0] if place else ''}".rstrip()) from None
    except (RecursionError, ValueError):
        raise Unclear("is nested too deeply, or contains too large a number") from None


def _at(
    value: object, keys: tuple[str, ...], folder: Path | None
) -> Iterator[tuple[Path | None, Mapping[str, object]]]:
    """Yield the objects at these keys, each with the folder of its project."""
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise Unclear("has something other than an object in place of its servers")
    if not keys:
        yield folder, value
        return
    if keys[0] != EVERY:
        yield from _at(value.get(keys[0]), keys[1:], folder)
        return
    for name, each in value.items():
        if Path(name).is_absolute():
            yield from _at(each, keys[1:], Path(name))
