"""Classifies each entry in a program's file: whether it can be imported, and whether the guard already has it.

Rules kept here:
1. Each entry is judged separately: one that cannot be imported gets a reason, and affects no other.
2. Entries are compared with the guard's servers by command or URL, not by name alone.
3. No message about an entry repeats a value that may be a secret: only values without secrets are shown.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final
from urllib.parse import urlsplit

from mcpguard.agents.config_files import Item
from mcpguard.agents.entry_secrets import SecretFreeEntry, take_out_secrets
from mcpguard.agents.program import Untaken
from mcpguard.codec.names import server_name_for
from mcpguard.domain.decisions import NotDeclared
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.servers.launches import Launch, Profile, RemoteLaunch, StdioLaunch
from mcpguard.settings.entries.entry import entry_place, shown_name
from mcpguard.settings.entries.members import read_entry

OTHERWISE: Final = "--as NAME"
NAME: Final = "mcpguard"
_RUNNERS: Final = frozenset({"uvx", "uv", "pipx", "python", "python3", "py"})
_URLS: Final = ("url", "serverUrl", "httpUrl")


class CandidateWay(StrEnum):
    """What becomes of an entry."""

    NEW = "new"
    HERE = "here already"
    AGAIN = "as another"
    TAKEN = "name is taken"
    OURS = "mcpguard itself"
    NOT = "cannot be taken"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry, and what becomes of it. `why` says more; `secret_free` and `launch` exist if it can be imported."""

    item: Item
    name: str
    way: CandidateWay
    why: str = ""
    secret_free: SecretFreeEntry | None = None
    launch: Launch | None = None
    notices: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of the host that the server would see."""
        return tuple(map(str, self.launch.mounts)) if isinstance(self.launch, StdioLaunch) else ()

    @property
    def profile(self) -> Profile | None:
        """How the server would be confined; None for a remote one."""
        return self.launch.profile if isinstance(self.launch, StdioLaunch) else None

    @property
    def target(self) -> str:
        """The command line or URL of the server; empty if it cannot be imported."""
        match self.launch:
            case None:
                return ""
            case RemoteLaunch(_, url):
                return url
            case StdioLaunch(command, arguments):
                return shlex.join((command, *arguments))


@dataclass(frozen=True, slots=True)
class GuardedServers:
    """The servers of the guard: their launches as it shows them, their status, and the guard's own origins."""

    launches: Mapping[str, Mapping[str, Any]]
    standings: Mapping[str, str]
    origins: tuple[str, ...]
    secrets: Path
    """The folder with a folder of secret files for each server."""


def candidates(items: Iterable[Item], guarded: GuardedServers) -> list[Candidate]:
    """Return a candidate for each entry, in their order; of equal ones only the first is new."""
    found: list[Candidate] = []
    first: dict[str, Candidate] = {}
    for item in items:
        each = candidate(item, guarded)
        if each.way is CandidateWay.NEW:
            earlier = first.setdefault(each.name, each)
            if earlier is not each:
                each = _after(each, earlier)
        found.append(each)
    return found


def candidate(item: Item, guarded: GuardedServers, name: str | None = None) -> Candidate:
    """Return the candidate for one entry. `name` replaces its own name."""
    label = item.label if name is None else name
    if is_guard_entry(item.entry, guarded.origins):
        return Candidate(item, shown_name(label), CandidateWay.OURS)
    try:
        if not isinstance(item.entry, Mapping):
            raise Untaken("must be an object")  # noqa: TRY301 - told as everything else that is wrong with it
        called = server_name_for(label)
        meant = item.program.members(item.entry, item.around)
        folders = folders_in_arguments(meant, item.around.home.folder)
        without = take_out_secrets(meant | ({"mounts": [*folders]} if folders else {}), guarded.secrets / called)
        declared, notices = read_entry(label, without.members)
    except Untaken as error:
        return Candidate(item, shown_name(label), CandidateWay.NOT, f"{entry_place(label)} {error}")
    except InvalidName:
        problem = f"{entry_place(label)} has no letter or digit to form a name"
        return Candidate(item, shown_name(label), CandidateWay.NOT, problem)
    except NotDeclared as error:
        return Candidate(item, shown_name(label), CandidateWay.NOT, "; ".join(error.problems))
    way, why = CandidateWay.NEW, ""
    if (there := guarded.launches.get(called)) is not None:
        way, why = CandidateWay.HERE, guarded.standings[called]
        if not _same(declared.launch, there):
            way, why = (
                CandidateWay.TAKEN,
                f"name conflict with another server of mcpguard; use {OTHERWISE}",
            )
    return Candidate(item, called, way, why, without, declared.launch, notices)


def _after(each: Candidate, earlier: Candidate) -> Candidate:
    """Return the candidate for an entry with the name of an earlier one: the same server again, or a name conflict."""
    whose = f"{earlier.item.program.title}, {earlier.item.scope}"
    if each.launch == earlier.launch:
        return replace(each, way=CandidateWay.AGAIN, why=f"identical to the entry of {whose}")
    return replace(each, way=CandidateWay.TAKEN, why=f"name conflict with the entry of {whose}; use {OTHERWISE}")


def _same(launch: Launch, there: Mapping[str, Any]) -> bool:
    """Tell whether this is the launch that the guard shows; it shows that literal values exist, but not what they
    are.
    """
    match launch:
        case RemoteLaunch(_, url, headers):
            return there.get("url") == url and _alike(headers, there.get("headers", ()))
        case _:
            return (
                there.get("command") == launch.command
                and there.get("arguments") == list(launch.arguments)
                and there.get("folder") == launch.folder
                and _alike(launch.environment, there.get("environment", ()))
            )


def _alike(templates: Mapping[str, str], shown: Iterable[Mapping[str, Any]]) -> bool:
    there = {str(each["name"]): each["value"] for each in shown}
    return templates.keys() == there.keys() and all(there[name] in (None, templates[name]) for name in templates)


def folders_in_arguments(members: Mapping[str, object], home: Path) -> tuple[str, ...]:
    """Return the folders in a server's arguments, if its entry names no mounts.

    Without a sandbox the program could read everything, and it evidently needs the folders in its arguments. They are
    mounted read-only and shown to the reviewer. A folder that is or contains the home is left to the user.
    """
    arguments = members.get("args")
    if "command" not in members or "mounts" in members or not isinstance(arguments, list):
        return ()
    words = (word for word in arguments if isinstance(word, str) and word.startswith("/") and "\0" not in word)
    return tuple(dict.fromkeys(word for word in words if Path(word).is_dir() and not _holds(Path(word), home)))


def _holds(folder: Path, home: Path) -> bool:
    return home.resolve().is_relative_to(folder.resolve())


def is_guard_entry(entry: object, origins: tuple[str, ...]) -> bool:
    """Tell whether an entry is mcpguard itself, by its command or by the origin of its URL."""
    if not isinstance(entry, Mapping):
        return False
    for key in _URLS:
        if isinstance(url := entry.get(key), str) and _origin(url) in origins:
            return True
    command, arguments = entry.get("command"), entry.get("args")
    words = [each for each in (arguments if isinstance(arguments, list) else ()) if isinstance(each, str)]
    if not isinstance(command, str) or "stdio" not in words:
        return False
    program = _stem(command)
    return program == NAME or (program.rstrip(".0123456789") in _RUNNERS and NAME in words[: words.index("stdio")])


def _stem(command: str) -> str:
    """Return the program's name, for paths of any operating system."""
    name = PureWindowsPath(command).name if "\\" in command else PurePosixPath(command).name
    return name.lower().removesuffix(".exe")


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}".lower()
    except ValueError:
        return ""
