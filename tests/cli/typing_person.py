"""A command with a person at its terminal, who has typed already."""

import os
import pty
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.patience import PATIENCE
from tests.process import MCPGUARD, environment

NOTHING: Mapping[str, str] = {}


def typed(keys: bytes, *words: str | Path, environ: Mapping[str, str] = NOTHING) -> tuple[int, str]:
    """How it ends, and everything that the person sees."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, keys)
        with subprocess.Popen(
            [*MCPGUARD, *map(str, words)],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(environ),
        ) as command:
            seen, _ = command.communicate(timeout=PATIENCE)
            return command.returncode, seen
    finally:
        os.close(ours)
        os.close(theirs)
