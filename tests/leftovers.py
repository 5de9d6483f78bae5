"""Folders that are removed when all tests have run: that may take long, and is no test's time."""

import shutil
import tempfile
from pathlib import Path

_folders: list[Path] = []


def folder(prefix: str) -> Path:
    """A new one, beside pytest's."""
    _folders.append(Path(tempfile.mkdtemp(prefix=prefix)))
    return _folders[-1]


def remove() -> None:
    while _folders:
        shutil.rmtree(_folders.pop(), ignore_errors=True)
