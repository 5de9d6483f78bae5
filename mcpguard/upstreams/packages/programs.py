"""Which program of an installed package is the server, told from the package's own files.

Rules kept here:
1. Those files are anybody's: what they say is bounded, and names a file in the tree or nothing.
2. The program is run by the interpreter that was found on the machine, never by what its first line says.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from mcpguard.text.visible import visible
from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.packages.package import Ecosystem, Package

LONGEST: Final = 1024 * 1024
LONGEST_NAME: Final = 40
FIRST_LINE: Final = 512
FOR_NODE: Final = frozenset({".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"})
_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]{0,127}")
ALONE: Final = ("-S",)
"""Python without the packages of the machine: what it imports is its own or the tree's."""


@dataclass(frozen=True, slots=True)
class PackageProgram:
    """A package as it was resolved, and its program: a path in the tree, and options of the interpreter."""

    name: str
    version: str
    path: str
    options: tuple[str, ...]


def program(package: Package, tree: Path) -> PackageProgram:
    """Only in a tree that has a digest: no link in it leads out. Raises NotInstalled."""
    return _of_npm(package, tree) if package.ecosystem is Ecosystem.NPM else _of_python(package, tree)


def _of_npm(package: Package, tree: Path) -> PackageProgram:
    folder = tree / "node_modules" / package.name
    about = _json(folder / "package.json", package.name)
    version = _version(package.name, about.get("version"))
    named = [Package(package.ecosystem, (each,)).name for each in package.specifications]
    programs = {}
    for name in reversed(named):
        inside = tree / "node_modules" / name
        for word, target in _bins(name, _json(inside / "package.json", name)).items():
            programs[word] = inside, target
    wanted = package.program or _default(package.name, programs.keys())
    if wanted not in programs:
        raise NotInstalled(_missing(package.name, wanted, programs))
    where, target = programs[wanted]
    path = Path(os.path.normpath(where / target))
    if not path.is_relative_to(where) or not path.is_file():
        raise NotInstalled(f"the program {wanted} of {package.name} is not there")
    return PackageProgram(package.name, version, str(path.relative_to(tree)), _options_of_node(path, wanted))


def _version(name: str, told: object) -> str:
    """It becomes part of what a person approves, so it has to look like a version and like nothing else."""
    if not isinstance(told, str) or not _VERSION.fullmatch(told):
        raise NotInstalled(f"{name} does not say which version it is")
    return told


def _bins(name: str, about: Mapping[str, Any]) -> dict[str, str]:
    told = about.get("bin")
    if isinstance(told, str):
        return {PurePosixPath(name).name: told}
    if not isinstance(told, dict):
        return {}
    return {word: target for word, target in told.items() if isinstance(target, str)}


def _default(name: str, programs: Iterable[str]) -> str:
    """The only one, else the one that is called like the package."""
    found = list(programs)
    return found[0] if len(found) == 1 else PurePosixPath(name).name


def _options_of_node(path: Path, name: str) -> tuple[str, ...]:
    """Those that its first line asks for. A program of another kind is not for Node."""
    with path.open("rb") as file:
        line = file.read(FIRST_LINE).partition(b"\n")[0].decode(errors="replace")
    words = line[2:].split() if line.startswith("#!") else []
    calls = [at for at, word in enumerate(words) if PurePosixPath(word).name == "node"]
    if not calls and (words or path.suffix not in FOR_NODE):
        raise NotInstalled(f"its program {visible(name)} is not one that Node runs")
    return tuple(word for word in words[calls[0] + 1 :] if word.startswith("-")) if calls else ()


def _of_python(package: Package, tree: Path) -> PackageProgram:
    versions = list(_versions(package.name, tree))
    if not versions:
        raise NotInstalled(f"{package.name} was not installed")
    if len(versions) > 1:  # whichever is shown, another package may have brought it
        raise NotInstalled(f"{package.name} is there more than once, and says different things of itself")
    version = _version(package.name, versions[0])
    wanted = package.program or package.name
    path = tree / "bin" / wanted
    if not path.is_file():
        folder = tree / "bin"
        there = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
        raise NotInstalled(_missing(package.name, wanted, there))
    with path.open("rb") as file:
        line = file.read(FIRST_LINE).partition(b"\n")[0]
    if not line.startswith(b"#!") or not (b"python" in line or line.endswith(b"/sh")):
        raise NotInstalled(f"its program {visible(wanted)} is not one that Python runs")
    return PackageProgram(package.name, version, f"bin/{wanted}", ALONE)


def _versions(name: str, tree: Path) -> Iterator[str]:
    """However it is written: in names of Python packages `-`, `_` and `.` are the same."""
    for folder in sorted(tree.glob("*.dist-info")):
        head = _text(folder / "METADATA", name).partition("\n\n")[0]
        told = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line and not line.startswith(" "))
        if _plain(told.get("Name", "")) == _plain(name) and "Version" in told:
            yield told["Version"].strip()


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _json(path: Path, name: str) -> Mapping[str, Any]:
    try:
        told = json.loads(_text(path, name))
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise NotInstalled(f"what {name} says of itself in its package.json cannot be read")
    return told


def _text(path: Path, name: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST + 1)
    except OSError as error:
        raise NotInstalled(f"what {name} says of itself cannot be read: {error.strerror}") from error
    if len(data) > LONGEST:
        raise NotInstalled(f"what {name} says of itself is longer than {LONGEST // 1024} KiB")
    return data.decode(errors="replace")


def _missing(name: str, wanted: str, there: Iterable[str]) -> str:
    found = visible(", ".join(each[:LONGEST_NAME] for each in list(there)[:10])) or "none"
    return f"{name} has no program {wanted!r}; its programs: {found}"
