"""Other gateways, each in an environment of its own below .tools/bench, made when it is needed for the first time.

Rules kept here:
1. Nothing of theirs is read or imported by us: they are programs that run, with the versions that the index gives.
2. What cannot be installed is missing, and why is said in a sentence. A stamp says that an installation has ended.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.benchmarks.gateway.contender import CannotRun
from tests.process import ROOT

PLACE: Final = ROOT / ".tools" / "bench"
PATIENCE: Final = 600.0
_UNREACHABLE = re.compile(r"connection broken|NewConnectionError|name resolution|ProxyError|ReadTimeout|ConnectTimeout")


def installed(name: str) -> Path:
    """The folder with the programs of a package, in its newest version or the one that was installed. CannotRun."""
    place = PLACE / name
    stamp = place / "installed"
    if not stamp.exists():
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        _run([sys.executable, "-m", "venv", str(place)], "its environment cannot be made")
        pip = [str(place / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--retries", "1"]
        _run([*pip, "install", "--quiet", name], f"pip cannot install {name}")
        stamp.touch()
    return place / "bin"


def version(name: str) -> str:
    """Which version is there."""
    code = f"from importlib.metadata import version; print(version({name!r}))"
    return _run([str(installed(name) / "python"), "-c", code], f"{name} has no version").strip()


def _run(command: list[str], otherwise: str) -> str:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise CannotRun(f"{otherwise} within {PATIENCE:.0f} seconds") from None
    if done.returncode:
        raise CannotRun(f"{otherwise}: {_why(done.stdout + done.stderr)}")
    return done.stdout


def _why(said: str) -> str:
    if _UNREACHABLE.search(said):
        return "the package index cannot be reached"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1] if lines else "no word why")
