"""Reads and writes what several programs have in common: entries of `mcpServers`, and paths in a project's entries."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from mcpguard.agents.program import Entry, EntryOrigin, Reach, Untaken
from mcpguard.agents.variables import Dialect, translate_variables

_FETCHED: Final = frozenset({"npx", "uvx", "bunx", "pnpx", "docker", "podman"})
"""Commands that fetch their program, and need no working folder for it."""


def standard(reach: Reach, *, typed: bool = True) -> dict[str, object]:
    """Return the guard's entry as most programs accept it. `typed`: with its transport."""
    if reach.url:
        remote: dict[str, object] = {"type": "http"} if typed else {}
        remote["url"] = reach.url
        return remote | ({"headers": dict(reach.headers)} if reach.headers else {})
    local: dict[str, object] = {"type": "stdio"} if typed else {}
    local |= {"command": reach.command[0], "args": [*reach.command[1:]]}
    return local | ({"env": dict(reach.environment)} if reach.environment else {})


def reader(dialect: Dialect) -> Callable[[Entry, EntryOrigin], dict[str, object]]:
    """Return a function that reads entries of `mcpServers` with variables in this dialect."""

    def members(entry: Entry, around: EntryOrigin) -> dict[str, object]:
        if entry.get("envFile") is not None:
            raise Untaken("has an envFile, which mcpguard does not read; move its variables to env first")
        return with_whole_paths(translate_variables(with_one_url(entry), dialect, around), around)

    return members


def with_one_url(entry: Entry) -> dict[str, object]:
    """Return the entry with the name `url` for its URL."""
    made = dict(entry)
    for other in ("serverUrl", "httpUrl"):
        if other in made and "url" not in made:
            made["url"] = made.pop(other)
    return made


def with_whole_paths(members: Mapping[str, object], around: EntryOrigin) -> dict[str, object]:
    """Return the entry with absolute paths; those of a project are relative to its folder. Raises Untaken."""
    made = dict(members)
    command, cwd = made.get("command"), made.get("cwd")
    if cwd is not None and isinstance(cwd, str):
        made["cwd"] = str(_whole("cwd", cwd, around))
    if isinstance(command, str):
        if "/" in command and not command.startswith("~"):
            made["command"] = str(_whole("command", command, around))
        if around.folder is not None and cwd is None and Path(command).name not in _FETCHED:
            made["cwd"] = str(around.folder)
    return made


def _whole(key: str, text: str, around: EntryOrigin) -> Path:
    path = Path(text)
    if path.is_absolute():
        return path
    if around.folder is None:
        raise Untaken(f"has a relative path in {key}; write an absolute one")
    return around.folder / path
