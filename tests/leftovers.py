"""Folders that are removed when all tests have run: that may take long, and is no test's time.

They are in memory where there is room. The folders that pytest gives tests are not: they are mounted into sandboxes,
which have a `/dev` of their own, and what is below it on the machine is refused to them.
"""

import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
ROOM = 2 << 30
_folders: list[Path] = []


def folder(prefix: str) -> Path:
    """A new one."""
    _folders.append(Path(tempfile.mkdtemp(prefix=prefix, dir=_in_memory())))
    return _folders[-1]


def remove() -> None:
    while _folders:
        shutil.rmtree(_folders.pop(), ignore_errors=True)


def _in_memory() -> Path | None:
    """None where that cannot be: then it is where temporary files are."""
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM else None
