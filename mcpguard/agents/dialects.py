"""What several programs have in common: entries in the words of `mcpServers`, and how a project's entries are meant."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from mcpguard.agents.program import Entry, EntryOrigin, Reach, Untaken
from mcpguard.agents.variables import Dialect, translated

_FETCHED: Final = frozenset({"npx", "uvx", "bunx", "pnpx", "docker", "podman"})
"""Commands that bring what they run, and need no folder for it."""


def standard(reach: Reach, *, typed: bool = True) -> dict[str, object]:
    """The entry that most programs take for the guard. `typed`: with the word that says how it is reached."""
    if reach.url:
        remote: dict[str, object] = {"type": "http"} if typed else {}
        remote["url"] = reach.url
        return remote | ({"headers": dict(reach.headers)} if reach.headers else {})
    local: dict[str, object] = {"type": "stdio"} if typed else {}
    local |= {"command": reach.command[0], "args": [*reach.command[1:]]}
    return local | ({"env": dict(reach.environment)} if reach.environment else {})


def reader(dialect: Dialect) -> Callable[[Entry, EntryOrigin], dict[str, object]]:
    """How a program means its entries that writes them in these words, and its variables in this dialect."""

    def members(entry: Entry, around: EntryOrigin) -> dict[str, object]:
        if entry.get("envFile") is not None:
            raise Untaken("has an envFile, which mcpguard does not read; write its variables into env first")
        return placed(translated(renamed(entry), dialect, around), around)

    return members


def renamed(entry: Entry) -> dict[str, object]:
    """With one name for the URL."""
    made = dict(entry)
    for other in ("serverUrl", "httpUrl"):
        if other in made and "url" not in made:
            made["url"] = made.pop(other)
    return made


def placed(members: Mapping[str, object], around: EntryOrigin) -> dict[str, object]:
    """With whole paths: what a project says is meant from its folder, and nobody else can say what a part means."""
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
        raise Untaken(f"has a {key} that is part of a path, and nothing says where it begins; write it out")
    return around.folder / path
