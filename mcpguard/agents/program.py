"""Describes a program that runs agents, such as an editor: its files, and the format of its entries.

Rules kept here:
1. Nothing is read from this process's own environment: the home is a parameter.
2. An entry is translated completely into the form of the guard's `mcpServers`, or else it is `Untaken`, with a message.
   The message repeats no value, as it may be a secret.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from mcpguard.codec.names import Separator

EVERY: Final = "*"
"""Stands for every member of an object among the keys of a file; the member's name is the folder of a project."""

Entry = Mapping[str, object]


class FileForm(StrEnum):
    """The format of a file. JSON may have comments and trailing commas."""

    JSON = "json"
    TOML = "toml"


class Untaken(ValueError):
    """An entry cannot be translated for mcpguard. The message follows the entry's name."""


@dataclass(frozen=True, slots=True)
class Home:
    """The home of a user, with its environment."""

    folder: Path
    platform: str
    """As `sys.platform` says it: linux, darwin or win32."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def configuration(self) -> Path:
        """The folder in which desktop programs keep their settings."""
        match self.platform:
            case "darwin":
                return self.folder / "Library" / "Application Support"
            case "win32":
                return self.folder_from("APPDATA") or self.folder / "AppData" / "Roaming"
            case _:
                return self.folder_from("XDG_CONFIG_HOME") or self.folder / ".config"

    def folder_from(self, variable: str) -> Path | None:
        """Return the folder that an environment variable names, if it is set."""
        value = self.environment.get(variable)
        return Path(value) if value else None


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file that may declare servers, below `keys`. `connectable`: whether the guard's entry may be added there."""

    path: Path
    keys: tuple[str, ...]
    form: FileForm = FileForm.JSON
    scope: str = "user"
    connectable: bool = False
    folder: Path | None = None
    """The folder of the project that the entries belong to; None for the user's own entries."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How an agent reaches the guard: by a command, or by a URL."""

    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class EntryOrigin:
    """The home in which an entry was found, and the folder of its project if it belongs to one."""

    home: Home
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class AgentProgram:
    """A program that agents run in.

    `separator` is one that its models accept in names of tools. `http`: whether its file can name a server by a URL.
    `after` says what the user does so that the program reads its file again.
    """

    name: str
    title: str
    after: str
    places: Callable[[Home, Path], tuple[ConfigFile, ...]]
    """Returns its files for a home and the folder of a project. The first connectable one is the user's own."""
    entry: Callable[[Reach], dict[str, object]]
    """Returns the guard's entry in the program's own form."""
    members: Callable[[Entry, EntryOrigin], dict[str, object]]
    """Translates an entry into the guard's form, with variables as `${env:NAME}` and `${input:id}`. Raises Untaken."""
    http: bool = True
    separator: Separator = "__"
