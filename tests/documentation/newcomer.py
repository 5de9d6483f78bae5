"""Somebody who has just cloned: what their folder and their environment are like, but that everything is installed."""

import sys
from pathlib import Path

from tests.process import ROOT

INSTALLED = "make --old-file=.venv/.runtime"
"""What `make` is here: what a test runs in is never installed anew from a folder that goes away."""
NOT_A_NEWCOMERS = ("MCPGUARD_", "XDG_", "MAKE", "ARGS")
"""What the environment of a test has, and that of somebody who has just cloned has not."""
MADE_BY_MAKE = (".venv", ".git", "build", ".tools")


def cloned(folder: Path) -> Path:
    """A folder like theirs, made there."""
    folder.mkdir()
    for path in ROOT.iterdir():
        if path.name not in MADE_BY_MAKE and not path.name.endswith("_cache"):
            (folder / path.name).symlink_to(path)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder
