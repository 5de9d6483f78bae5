"""Describes what is deployed for a program: files of the system, and what an administrator enters elsewhere.

Rules kept here:
1. Pure functions make it: nothing is read, and nothing depends on the system that this runs on.
2. Nothing deployed holds a secret, because every account can read it. A token is named by an environment variable.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Final

from mcpguard.agents.editing.edit import Edit, apply_edit
from mcpguard.agents.program import ConfigFile, FileForm, Reach

NAME: Final = "mcpguard"
"""The name of the guard in what is deployed, as `connect` uses it."""


class TargetSystem(StrEnum):
    """The operating system that something is deployed on."""

    LINUX = "linux"
    MACOS = "macos"
    WINDOWS = "windows"


def windows(path: str) -> PureWindowsPath:
    return PureWindowsPath(path)


def posix(path: str) -> PurePosixPath:
    return PurePosixPath(path)


@dataclass(frozen=True, slots=True)
class SystemFile:
    """A file of the system, and the members that it must have below `keys`.

    `take` are members that would be another way around the guard. `sole`: no other member may stand beside them.
    """

    path: PurePath
    keys: tuple[str, ...]
    put: Mapping[str, object] = field(repr=False)
    take: frozenset[str] = frozenset()
    sole: bool = False
    form: FileForm = FileForm.JSON

    def place_below(self, root: Path) -> ConfigFile:
        """Return the file below another root folder."""
        return ConfigFile(root.joinpath(*self.path.parts[1:]), self.keys, self.form)

    def edit(self, present: Mapping[str, object]) -> Edit:
        """Return the edit for a file that has these members below the keys."""
        others = present.keys() - self.put.keys() if self.sole else present.keys() & self.take
        return Edit(self.put, frozenset(others))

    def text(self) -> str:
        """Return the whole file where there was none."""
        return apply_edit(b"", self.place_below(Path()), Edit(self.put)).decode()


@dataclass(frozen=True, slots=True)
class AdminPage:
    """What an administrator enters by hand, or gives to a management tool, because no file of the system says it."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class LockdownWish:
    """How the guard is reached in what is deployed. `registry` is the address of the registry, or empty."""

    reach: Reach
    registry: str = ""


@dataclass(frozen=True, slots=True)
class LockableProgram:
    """A program that can be confined to the guard.

    `checked` says against which publication its format was checked. `reads` are the programs of `connect` that obey
    it. `after` says what is left to do.
    """

    name: str
    title: str
    checked: str
    reads: tuple[str, ...]
    after: str
    files: Callable[[LockdownWish, TargetSystem], tuple[SystemFile, ...]] = lambda *_: ()
    pages: Callable[[LockdownWish, TargetSystem], tuple[AdminPage, ...]] = lambda *_: ()


def matcher(reach: Reach) -> dict[str, object]:
    """Return the entry of `allowedMcpServers` that matches the guard only; three programs share its form."""
    return {"serverUrl": reach.url} if reach.url else {"serverCommand": [*reach.command]}
