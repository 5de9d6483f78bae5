"""The uv that the tests install Python packages with: the machine's own, or one in .tools/uv; run as a program, it only
sees to it that there is one.

What is installed is what uv/requirements.txt says, to the hash. It appears whole or not at all, and of several
processes that come at once one installs it.
"""

import fcntl
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from tests.conformance.tools import NotInstalled

WANTED = Path(__file__).parent / "uv" / "requirements.txt"
TOOLS = Path(__file__).parents[2] / ".tools"
PATIENCE = 300.0
COMMAND = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--only-binary=:all:")


@functools.cache
def folder() -> Path:
    """Where `uv` is."""
    if found := shutil.which("uv"):
        return Path(found).parent
    place = TOOLS / "uv"
    if not (place / "bin" / "uv").exists():
        install(place)
    return place / "bin"


def install(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with (place.parent / "uv.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "bin" / "uv").exists():
            with tempfile.TemporaryDirectory(prefix="uv-", dir=place.parent) as incoming:
                _fill(Path(incoming) / "uv")
                shutil.rmtree(place, ignore_errors=True)
                (Path(incoming) / "uv").rename(place)


def _fill(place: Path) -> None:
    """By the pip of this environment; one made without has that of the Python it was made from."""
    python = sys.executable if find_spec("pip") else getattr(sys, "_base_executable", sys.executable)
    command = [python, *COMMAND, "--require-hashes", "--target", str(place), "--requirement", str(WANTED)]
    done = subprocess.run(
        command,
        env={**os.environ, "PIP_NO_INPUT": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    if done.returncode:
        raise NotInstalled(f"uv cannot be installed; put one on the PATH, or see why:\n{done.stderr.strip()}")


def main() -> None:
    try:
        folder()
    except NotInstalled as error:
        sys.exit(f"mcpguard: {error}")


if __name__ == "__main__":
    main()
