"""The command by which a program on this host reaches the guard over standard streams."""

import os
import shutil
import sys
from pathlib import Path

from mcpguard.settings.environment import CONFIG


def stdio_command(config: Path | None, data_dir: Path) -> tuple[str, ...]:
    """The whole command. It names the data directory, whose default depends on an environment: on whose?"""
    named = config or (Path(os.environ[CONFIG]) if CONFIG in os.environ else None)
    which = () if named is None else ("--config", str(named.absolute()))
    return (*this_command(), "stdio", *which, "--data-dir", str(data_dir))


def this_command() -> tuple[str, ...]:
    """The command that starts this program, wherever it was started from: nothing there is taken for a part of it."""
    called = Path(sys.argv[0])
    if called.name in ("mcpguard", "mcpguard.exe"):
        return (str(Path(shutil.which(str(called)) or called).absolute()),)
    return sys.executable, "-P", "-m", "mcpguard"
