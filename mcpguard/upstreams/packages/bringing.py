"""The guard's own uv, for machines that have none: fetched because a person asks for it, never by itself.

Rules kept here:
1. It is the wheel that is pinned in `uv.txt`, to the hash, fetched by the pip of the guard's own Python. Nothing of it
   is run then.
2. It lies beside the data directory, which nothing that is confined may see; only the guard's account may write there.
3. It appears whole or not at all.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from mcpguard.text.visible import visible
from mcpguard.upstreams.packages.not_installed import NotInstalled

WANTED: Final = Path(__file__).with_name("uv.txt")
HOW: Final = "mcpguard server fetch-uv"
SECONDS: Final = 300.0
LONGEST: Final = 300
"""Characters of what pip says."""
_STRICTLY: Final = ("--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes")
_OTHERWISE: Final = (
    "without the network, install uv on another way so that it is on the guard's PATH, or name a copy of PyPI in "
    "PIP_INDEX_URL"
)


def folder(data: Path) -> Path:
    """Where it lies; `data` is the data directory."""
    return data.with_name(f"{data.name}-tools") / "uv"


def brought(data: Path) -> Path | None:
    """It, if somebody had it fetched."""
    program = folder(data) / "bin" / "uv"
    return program if program.is_file() and os.access(program, os.X_OK) else None


def bring(place: Path) -> Path:
    """The program, fetched into this folder if it is not there. Raises NotInstalled, which says what to do."""
    program = place / "bin" / "uv"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with (place.parent / "uv.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not program.exists():
                with tempfile.TemporaryDirectory(prefix="uv-", dir=place.parent) as incoming:
                    _fill(Path(incoming) / "uv")
                    shutil.rmtree(place, ignore_errors=True)
                    (Path(incoming) / "uv").rename(place)
    except OSError as error:
        raise NotInstalled(f"uv cannot be put into {place}: {error.strerror}") from error
    return program


def pip() -> tuple[str, ...]:
    """How the pip of this environment is run; one that was made without pip has that of the Python it was made from."""
    python = sys.executable if find_spec("pip") else getattr(sys, "_base_executable", sys.executable)
    return python, "-I", "-m", "pip", "--disable-pip-version-check"


def _fill(place: Path) -> None:
    command = [*pip(), "install", *_STRICTLY, "--target", str(place), "--requirement", str(WANTED)]
    try:
        done = subprocess.run(  # noqa: S603 - our own Python, and words of ours
            command,
            env={**os.environ, "PIP_NO_INPUT": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            umask=0o022,
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"uv cannot be fetched within {SECONDS:g} seconds: {_OTHERWISE}") from None
    if done.returncode or not (place / "bin" / "uv").is_file():
        said = visible(" ".join(done.stderr.split()))[-LONGEST:]
        raise NotInstalled(f"uv cannot be fetched (pip: {said or 'it has nothing for this machine'}): {_OTHERWISE}")
