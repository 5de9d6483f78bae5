"""The programs that install packages and run them: npm, node, uv, and a Python.

Rules kept here:
1. They are the machine's own, found beside the runner that was named, then on the PATH. None is fetched by itself; a uv
   that a person had the guard fetch (`bringing`) is taken where the machine has none.
2. What is found may be a version manager's shim, which works in no sandbox; so a program is asked where it really is.
   Nothing is asked but what lies on the guard's own PATH: the answer is given outside of every sandbox, and where a
   declaration leads to may be anything.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from anyio import to_thread

from mcpguard.upstreams.packages.bringing import HOW, brought
from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.packages.running import Ran, complaint, ran
from mcpguard.upstreams.process.stdio import Launch

SECONDS: Final = 20.0
WHERE_PYTHON: Final = (
    *("-I", "-S", "-c"),
    "import sys; print(getattr(sys, '_base_executable', '') or sys.executable)",
)
WHICH_PYTHON: Final = ("-I", "-S", "-c", "import platform; print(platform.python_version())")
NPM_SCRIPT: Final = "npm-cli.js"
BESIDE_NODE: Final = ("lib/node_modules/npm", "node_modules/npm")


@dataclass(frozen=True, slots=True)
class Search:
    """Where to look. `environ` is the guard's own environment, `path` the PATH that counts for the server, `data` the
    data directory, beside which the guard's own uv may lie.
    """

    path: str
    environ: Mapping[str, str]
    data: Path | None = None

    def which(self, name: str) -> str | None:
        return shutil.which(name, path=self.path)

    def ours(self, found: str) -> bool:
        """Whether it is on the guard's own PATH."""
        return os.path.dirname(found) in self.environ.get("PATH", "").split(os.pathsep)  # noqa: PTH120 - as it is written

    async def asked(self, what: str, *words: str) -> Ran:
        """What a program says of itself."""
        kept = {name: value for name in ("HOME", "LANG", "XDG_CONFIG_HOME") if (value := self.environ.get(name))}
        return await ran(
            Launch(words[0], words[1:], {**kept, "PATH": self.environ.get("PATH", "")}, Path("/")), what, SECONDS
        )


def search(command: str, environ: Mapping[str, str], path: str, data: Path | None = None) -> Search:
    """`command` is the runner as it was declared. Only folders by their whole path count."""
    folders = [os.path.dirname(command), *path.split(os.pathsep)]  # noqa: PTH120 - "" is no folder, and Path makes it one
    return Search(os.pathsep.join(folder for folder in folders if folder.startswith("/")), environ, data)


async def node(where: Search) -> Path:
    """Node itself."""
    found = await to_thread.run_sync(where.which, "node")
    if found is None:
        raise NotInstalled("there is no node on this machine: install Node.js, which comes with npm")
    return await _itself(where, "node", found, "-p", "process.execPath")


def npm(where: Search, node: Path) -> Path:
    """The script that npm is, which its Node runs."""
    named = where.which("npm")
    prefix = node.parent.parent
    candidates = [Path(named).resolve()] if named else []
    candidates += [each / "bin" / NPM_SCRIPT for each in (*(prefix / name for name in BESIDE_NODE), node.parent)]
    for script in candidates:
        if script.name == NPM_SCRIPT and script.is_file() and (script.parent.parent / "package.json").is_file():
            return script
    raise NotInstalled("there is no npm on this machine: install the one that belongs to its Node.js")


def uv(where: Search) -> Path:
    if found := where.which("uv"):
        return Path(found)
    if own := brought(where.data) if where.data else None:
        return own
    raise NotInstalled(f"there is no uv on this machine, which uvx is part of: install it, or have one fetched ({HOW})")


async def python(where: Search, wanted: str | None) -> Path:
    """The Python that was asked for, else the one on the PATH, else the guard's own; never a virtual environment."""
    if wanted is None:
        with suppress(NotInstalled):
            if found := await to_thread.run_sync(where.which, "python3"):
                return await _itself(where, "python3", found, *WHERE_PYTHON)
        return _ours()
    name = wanted if wanted.startswith("/") else f"python{wanted.removeprefix('python')}"
    whole = name.startswith("/") or name.count(".") < 2
    found = await to_thread.run_sync(where.which, name if whole else name.rpartition(".")[0])
    if found is None:
        raise NotInstalled(f"there is no {name} on this machine, and an installation fetches none")
    path = await _itself(where, name, found, *WHERE_PYTHON)
    if not wanted.startswith("/") and where.ours(found):
        await _is_version(where, path, wanted.removeprefix("python"))
    return path


async def _is_version(where: Search, python: Path, wanted: str) -> None:
    """`3.12` is any 3.12."""
    told = await where.asked("Python", str(python), *WHICH_PYTHON)
    version = told.output.strip()
    if not f"{version}.".startswith(f"{wanted}."):
        raise NotInstalled(f"there is no Python {wanted} on this machine: {python} is {version}")


async def _itself(where: Search, name: str, found: str, *question: str) -> Path:
    if not where.ours(found):
        return await to_thread.run_sync(_no_script, name, found)
    told = await where.asked(name, found, *question)
    path = _program(told.output)
    if told.code or path is None:
        raise NotInstalled(f"{found} does not say where {name} really is: {complaint(told)}")
    return path


def _no_script(name: str, found: str) -> Path:
    with Path(found).open("rb") as file:
        if file.read(2) == b"#!":
            raise NotInstalled(f"{found} is a script, and {name} itself has to be there")
    return Path(found).resolve()


def _program(said: str) -> Path | None:
    path = Path(said.strip())
    return path.resolve() if path.is_absolute() and path.is_file() else None


def _ours() -> Path:
    return Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()
