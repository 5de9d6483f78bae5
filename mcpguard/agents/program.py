"""What is known of a program that agents run in.

Rules kept here:
1. Nothing is read from this process's own environment: whose home it is, is passed in.
2. What a program means by an entry is said in the words that our own `mcpServers` takes, or not at all: what cannot be
   said so is `Untaken`, with a sentence. The sentence repeats no value: it may be a secret.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from mcpguard.codec.names import Separator

EVERY: Final = "*"
"""Among the keys of a place: every member of the object. It is the folder of a project."""

Entry = Mapping[str, object]


class FileForm(StrEnum):
    """How a file is written. JSON may hold comments and trailing commas."""

    JSON = "json"
    TOML = "toml"


class Untaken(ValueError):
    """An entry means something that mcpguard cannot do. The sentence follows the entry's name."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where a person's files are."""

    folder: Path
    platform: str
    """As `sys.platform` says it: linux, darwin or win32."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def configuration(self) -> Path:
        """Where programs with a window keep what they are told."""
        match self.platform:
            case "darwin":
                return self.folder / "Library" / "Application Support"
            case "win32":
                return self.named("APPDATA") or self.folder / "AppData" / "Roaming"
            case _:
                return self.named("XDG_CONFIG_HOME") or self.folder / ".config"

    def named(self, variable: str) -> Path | None:
        """The folder that a variable names."""
        value = self.environment.get(variable)
        return Path(value) if value else None


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One file that may declare servers. `keys`: where in it. `connectable`: whether the guard is entered there."""

    path: Path
    keys: tuple[str, ...]
    form: FileForm = FileForm.JSON
    scope: str = "user"
    connectable: bool = False
    folder: Path | None = None
    """Of the project whose entries these are; None where they are the person's own."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How an agent is to reach the guard: by a command, or by a URL."""

    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class EntryOrigin:
    """Where an entry was found: whose home it is, and the folder of the project if it belongs to one."""

    home: Home
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class AgentProgram:
    """A program that agents run in.

    `separator` is one that its models can take in names of tools. `http`: whether its file can name a server by a URL.
    `after` says what a person does so that it reads its file again.
    """

    name: str
    title: str
    after: str
    places: Callable[[Home, Path], tuple[ConfigFile, ...]]
    """For a home and the folder of a project, the first connectable being the person's own."""
    entry: Callable[[Reach], dict[str, object]]
    """The entry by which it reaches the guard, in its own words."""
    members: Callable[[Entry, EntryOrigin], dict[str, object]]
    """One of its entries in our words. Of variables `${env:NAME}` and `${input:id}` are left. Raises Untaken."""
    http: bool = True
    separator: Separator = "__"
