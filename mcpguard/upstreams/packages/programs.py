"""Finds the program of an installed package that is the server, from the package's own metadata.

Rules kept here:
1. That metadata is untrusted: its size is limited, and it can name nothing but a file in the tree.
2. The program is run by the interpreter that was found on the host, never by the one in its first line (`#!`).
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
"""Runs Python without the host's packages: it imports from its own library and the tree only."""


@dataclass(frozen=True, slots=True)
class PackageProgram:
    """A resolved package and its program: a path in the tree, and options for the interpreter."""

    name: str
    version: str
    path: str
    options: tuple[str, ...]


def find_program(package: Package, tree: Path) -> PackageProgram:
    """Return the program. Only for a tree that has a digest, since no link in it leads out. Raises NotInstalled."""
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
    # Never a guess: with several programs and none of the package's name the user has to choose.
    if wanted not in programs:
        raise NotInstalled(_missing(package.name, wanted, programs))
    where, target = programs[wanted]
    # The target comes from the package: without this it could name `../../..` and a file of the host.
    path = Path(os.path.normpath(where / target))
    if not path.is_relative_to(where) or not path.is_file():
        raise NotInstalled(f"{package.name} declares the program {wanted}, but the file is missing")
    return PackageProgram(package.name, version, str(path.relative_to(tree)), _options_of_node(path, wanted))


def _version(name: str, version: object) -> str:
    """Return the version. A user approves it as part of the artifact, so it has to look like a version."""
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise NotInstalled(f"{name} has no valid version in its metadata")
    return version


def _bins(name: str, about: Mapping[str, Any]) -> dict[str, str]:
    told = about.get("bin")
    if isinstance(told, str):
        return {PurePosixPath(name).name: told}
    if not isinstance(told, dict):
        return {}
    return {word: target for word, target in told.items() if isinstance(target, str)}


def _default(name: str, programs: Iterable[str]) -> str:
    """Return the only program, or else the one with the package's name."""
    found = list(programs)
    return found[0] if len(found) == 1 else PurePosixPath(name).name


def _options_of_node(path: Path, name: str) -> tuple[str, ...]:
    """Return the options in the program's first line. Raises NotInstalled for a program that Node does not run."""
    with path.open("rb") as file:
        line = file.read(FIRST_LINE).partition(b"\n")[0].decode(errors="replace")
    words = line[2:].split() if line.startswith("#!") else []
    calls = [at for at, word in enumerate(words) if PurePosixPath(word).name == "node"]
    if not calls and (words or path.suffix not in FOR_NODE):
        raise NotInstalled(f"its program {visible(name)} is not a Node.js program")
    return tuple(word for word in words[calls[0] + 1 :] if word.startswith("-")) if calls else ()


def _of_python(package: Package, tree: Path) -> PackageProgram:
    versions = list(_versions(package.name, tree))
    if not versions:
        raise NotInstalled(f"the installer did not install {package.name}")
    # A dependency can ship metadata under this package's name. Whichever version was shown, it could be the false one.
    if len(versions) > 1:
        raise NotInstalled(f"{package.name} is installed more than once, with contradicting metadata")
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
        raise NotInstalled(f"its program {visible(wanted)} is not a Python program")
    return PackageProgram(package.name, version, f"bin/{wanted}", ALONE)


def _versions(name: str, tree: Path) -> Iterator[str]:
    """Yield the versions that the tree's metadata gives for this name, in any of its spellings."""
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
        raise NotInstalled(f"the package.json of {name} cannot be parsed")
    return told


def _text(path: Path, name: str) -> str:
    try:
        with path.open("rb") as file:
            # One byte more than allowed, to tell a file of exactly this size from a longer one.
            data = file.read(LONGEST + 1)
    except OSError as error:
        raise NotInstalled(f"the metadata of {name} cannot be read: {error.strerror}") from error
    if len(data) > LONGEST:
        raise NotInstalled(f"the metadata of {name} is longer than {LONGEST // 1024} KiB")
    return data.decode(errors="replace")


def _missing(name: str, wanted: str, there: Iterable[str]) -> str:
    found = visible(", ".join(each[:LONGEST_NAME] for each in list(there)[:10])) or "none"
    return f"{name} has no program {wanted!r}; available: {found}"
