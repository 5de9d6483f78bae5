"""Finds the programs that install packages and run them: npm, node, uv, and a Python.

Rules kept here:
1. They are the host's own, searched beside the declared runner, then on the PATH. None is fetched automatically; a uv
   that a user had the guard fetch (`own_uv`) is used where the host has none.
2. The program found may be a version manager's shim, which works in no sandbox; so it is run to report its real path.
   Only programs on the guard's own PATH are run for this: they run outside of every sandbox, and a declaration may lead
   to any program.
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

from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.packages.own_uv import HOW, fetched_uv
from mcpguard.upstreams.packages.program_run import ProgramResult, complaint, run_program
from mcpguard.upstreams.process.stdio import ProcessLaunch

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
    """Where to look for tools.

    `environ` is the guard's own environment, `path` the PATH that counts for the server, `data` the data directory,
    beside which the guard's own uv may lie.
    """

    path: str
    environ: Mapping[str, str]
    data: Path | None = None

    def which(self, name: str) -> str | None:
        return shutil.which(name, path=self.path)

    def ours(self, found: str) -> bool:
        """Tell whether the program lies on the guard's own PATH."""
        return os.path.dirname(found) in self.environ.get("PATH", "").split(os.pathsep)  # noqa: PTH120 - as it is written

    async def ask(self, what: str, *words: str) -> ProgramResult:
        """Run a program with a question about itself and return its output."""
        kept = {name: value for name in ("HOME", "LANG", "XDG_CONFIG_HOME") if (value := self.environ.get(name))}
        return await run_program(
            ProcessLaunch(words[0], words[1:], {**kept, "PATH": self.environ.get("PATH", "")}, Path("/")), what, SECONDS
        )


def search(command: str, environ: Mapping[str, str], path: str, data: Path | None = None) -> Search:
    """Return where to look. `command` is the declared runner. Only absolute folders count."""
    folders = [os.path.dirname(command), *path.split(os.pathsep)]  # noqa: PTH120 - "" is no folder, and Path makes it one
    return Search(os.pathsep.join(folder for folder in folders if folder.startswith("/")), environ, data)


async def node(where: Search) -> Path:
    """Return the path of Node itself. Raises NotInstalled."""
    found = await to_thread.run_sync(where.which, "node")
    if found is None:
        raise NotInstalled("node was not found on this host; install Node.js, which includes npm")
    return await _itself(where, "node", found, "-p", "process.execPath")


def npm(where: Search, node: Path) -> Path:
    """Return npm's script, which its Node runs. Raises NotInstalled."""
    named = where.which("npm")
    prefix = node.parent.parent
    candidates = [Path(named).resolve()] if named else []
    candidates += [each / "bin" / NPM_SCRIPT for each in (*(prefix / name for name in BESIDE_NODE), node.parent)]
    for script in candidates:
        if script.name == NPM_SCRIPT and script.is_file() and (script.parent.parent / "package.json").is_file():
            return script
    raise NotInstalled("npm was not found on this host; install the one that belongs to its Node.js")


def uv(where: Search) -> Path:
    if found := where.which("uv"):
        return Path(found)
    if own := fetched_uv(where.data) if where.data else None:
        return own
    raise NotInstalled(f"uv, which includes uvx, was not found on this host; install it, or run: {HOW}")


async def python(where: Search, wanted: str | None) -> Path:
    """Return the requested Python, else the one on the PATH, else the guard's own; never a virtual environment's."""
    if wanted is None:
        with suppress(NotInstalled):
            if found := await to_thread.run_sync(where.which, "python3"):
                return await _itself(where, "python3", found, *WHERE_PYTHON)
        return _ours()
    name = wanted if wanted.startswith("/") else f"python{wanted.removeprefix('python')}"
    whole = name.startswith("/") or name.count(".") < 2
    found = await to_thread.run_sync(where.which, name if whole else name.rpartition(".")[0])
    if found is None:
        raise NotInstalled(f"{name} was not found on this host, and an installation does not fetch one; install it")
    path = await _itself(where, name, found, *WHERE_PYTHON)
    if not wanted.startswith("/") and where.ours(found):
        await _is_version(where, path, wanted.removeprefix("python"))
    return path


async def _is_version(where: Search, python: Path, wanted: str) -> None:
    """Raise NotInstalled where this Python is of another version; `3.12` stands for any 3.12."""
    told = await where.ask("Python", str(python), *WHICH_PYTHON)
    version = told.output.strip()
    if not f"{version}.".startswith(f"{wanted}."):
        raise NotInstalled(f"Python {wanted} was not found on this host: {python} is {version}")


async def _itself(where: Search, name: str, found: str, *question: str) -> Path:
    # A program outside the guard's own PATH is never run here: the declaration chose it, and no sandbox holds it.
    if not where.ours(found):
        return await to_thread.run_sync(_no_script, name, found)
    told = await where.ask(name, found, *question)
    path = _program(told.output)
    if told.code or path is None:
        raise NotInstalled(f"cannot find {name} behind {found}: {complaint(told)}")
    return path


def _no_script(name: str, found: str) -> Path:
    with Path(found).open("rb") as file:
        if file.read(2) == b"#!":
            raise NotInstalled(f"{found} is a script; put {name} itself there")
    return Path(found).resolve()


def _program(said: str) -> Path | None:
    path = Path(said.strip())
    return path.resolve() if path.is_absolute() and path.is_file() else None


def _ours() -> Path:
    return Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()
