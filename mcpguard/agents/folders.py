"""Folders that a server is told of in its arguments: confined, it sees none that is not named for it.

A program that ran without a sandbox saw everything. What its arguments name it is evidently to see; that is declared,
read only, and so shown to whoever reviews it. A home, what holds one, and what is no folder here is left to a person.
"""

from collections.abc import Mapping
from pathlib import Path


def told_of(members: Mapping[str, object], home: Path) -> tuple[str, ...]:
    """The folders, if nothing was said of any yet."""
    arguments = members.get("args")
    if "command" not in members or "mounts" in members or not isinstance(arguments, list):
        return ()
    words = (word for word in arguments if isinstance(word, str) and word.startswith("/") and "\0" not in word)
    return tuple(dict.fromkeys(word for word in words if Path(word).is_dir() and not _holds(Path(word), home)))


def _holds(folder: Path, home: Path) -> bool:
    return home.resolve().is_relative_to(folder.resolve())
