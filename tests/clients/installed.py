"""The clients that are run against the guard, below .tools/clients, and Helm; run as a program, it only installs them.

Rules kept here:
1. Those for Node share one folder (npm), in which each has a name of its own; each for Python has an environment of its
   own (python).
2. What is installed is what the files of this folder say, to the hash; no script of a package runs, and nothing is
   built.
"""

import functools
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from mcpguard.upstreams.packages.own_uv import pip_command
from tests.conformance import tools
from tests.conformance.tools import NotInstalled

HERE = Path(__file__).parent
PLACE = Path(__file__).parents[2] / ".tools" / "clients"
PATIENCE = 300.0


@functools.cache
def for_node() -> Path:
    """The folder that node_modules is in."""
    place = PLACE / "npm"
    tools.install(place, HERE / "npm")
    return place


@functools.cache
def for_python(name: str) -> Path:
    """The Python of the environment in which the client of this name is."""
    return environment_of(PLACE / name, HERE / "python" / f"{name}.txt")


def environment_of(place: Path, wanted: Path) -> Path:
    """The Python of an environment in this folder, in which is exactly what a file of requirements names."""
    digest = hashlib.sha256(wanted.read_bytes() + sys.version.encode()).hexdigest()
    python = place / "venv" / "bin" / "python"
    with tools.changing(place, digest) as is_missing:
        if is_missing:
            for command in _making(place / "venv", python, wanted):
                _run(command)
    return python


@functools.cache
def for_charts() -> Path:
    """The Python of the environment in which Helm renders charts, and the schemas of Kubernetes are."""
    return environment_of(PLACE.parent / "helm", HERE.parent / "deploying" / "helm.txt")


def _making(venv: Path, python: Path, wanted: Path) -> tuple[list[str], list[str]]:
    """As this environment was made: by the machine's uv, or by pip. Each knows its registry by settings of its own."""
    hashed = ["--require-hashes", "--requirement", str(wanted)]
    if uv := shutil.which("uv"):
        create = [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(venv)]
        return create, [uv, "pip", "install", "--compile-bytecode", "--no-build", "--python", str(python), *hashed]
    create = [sys.executable, "-m", "venv", "--clear", "--without-pip", str(venv)]
    return create, [*pip_command(), "--python", str(python), "install", "--only-binary=:all:", *hashed]


def _run(command: list[str]) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"} | {"PIP_NO_INPUT": "1"}
    done = subprocess.run(
        command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    if done.returncode:
        raise NotInstalled(f"a client cannot be installed ({' '.join(command)}):\n{done.stderr.strip()}")


def main() -> None:
    try:
        for_node()
        for wanted in sorted((HERE / "python").glob("*.txt")):
            for_python(wanted.stem)
        for_charts()
    except NotInstalled as error:
        sys.exit(f"mcpguard: {error}")


if __name__ == "__main__":
    main()
