"""The guard's own copy of uv, for hosts without uv: fetched when a user asks for it, never automatically.

Rules kept here:
1. It is the wheel that `uv.txt` pins by hash, fetched by the pip of the guard's own Python. Fetching runs no code of
   it.
2. It lies beside the data directory, which no confined process may see; only the guard's account may write there.
3. It appears completely or not at all.
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
"""Characters of pip's output that an error repeats."""
_STRICTLY: Final = ("--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes")
_OTHERWISE: Final = (
    "without network access, install uv yourself so that it is on the guard's PATH, or set PIP_INDEX_URL to a mirror "
    "of PyPI"
)


def uv_folder(data: Path) -> Path:
    """Where it lies; `data` is the data directory."""
    return data.with_name(f"{data.name}-tools") / "uv"


def fetched_uv(data: Path) -> Path | None:
    """Return the guard's own uv, if a user had it fetched."""
    program = uv_folder(data) / "bin" / "uv"
    return program if program.is_file() and os.access(program, os.X_OK) else None


def fetch_own_uv(place: Path) -> Path:
    """Return the program, and fetch it into this folder first if it is missing. Raises NotInstalled."""
    program = place / "bin" / "uv"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with (place.parent / "uv.lock").open("w") as lock:
            # Two commands at once would both find no uv, and one would remove the folder that the other just filled.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not program.exists():
                # Filled in a folder beside the target, then renamed: a fetch that breaks off leaves no half of a uv
                # that a later run would take for the whole one.
                with tempfile.TemporaryDirectory(prefix="uv-", dir=place.parent) as incoming:
                    _fill(Path(incoming) / "uv")
                    shutil.rmtree(place, ignore_errors=True)
                    (Path(incoming) / "uv").rename(place)
    except OSError as error:
        raise NotInstalled(f"cannot write uv to {place}: {error.strerror}") from error
    return program


def pip_command() -> tuple[str, ...]:
    """Return the command that runs pip; an environment made without pip uses that of the Python it was made from."""
    python = sys.executable if find_spec("pip") else getattr(sys, "_base_executable", sys.executable)
    return python, "-I", "-m", "pip", "--disable-pip-version-check"


def _fill(place: Path) -> None:
    command = [*pip_command(), "install", *_STRICTLY, "--target", str(place), "--requirement", str(WANTED)]
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
        raise NotInstalled(f"uv could not be fetched within {SECONDS:g} seconds: {_OTHERWISE}") from None
    if done.returncode or not (place / "bin" / "uv").is_file():
        said = visible(" ".join(done.stderr.split()))[-LONGEST:]
        raise NotInstalled(f"uv could not be fetched (pip: {said or 'no wheel for this host'}): {_OTHERWISE}")
