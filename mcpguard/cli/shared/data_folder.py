"""Finds the guard's data directory for a command that only asks the guard.

Rules kept here:
1. The settings are loaded, which takes longer than all else such a command does, wherever one could be wrong: the
   command then says so like every other.
2. Where nothing is set but the data directory, it is found without them. A test compares the two.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mcpguard.cli.shared.common import load_settings
from mcpguard.codec.strict import StrictError, parse
from mcpguard.relay import place
from mcpguard.relay.problem import CannotRelay

_PREFIX: Final = "MCPGUARD_"
_CONFIG: Final = f"{_PREFIX}CONFIG"
_HARMLESS: Final = (_CONFIG, f"{_PREFIX}DATA_DIR", f"{_PREFIX}TOKEN", f"{_PREFIX}TOKEN_FILE")
_SERVERS: Final = frozenset({"mcpServers", "servers", "$schema"})
_OURS: Final = "mcpguard"


def data_directory(config: Path | None, data_dir: Path | None) -> Path:
    """Return the data directory that these options name. Prints every problem of the settings and exits with 1."""
    try:
        if _says_nothing_else(config, os.environ):
            return place.data_directory(data_dir, config, os.environ)
    except CannotRelay:
        pass  # loading the settings says why, in the words of every command
    return load_settings(config, data_dir=data_dir).settings.data_dir


def _says_nothing_else(config: Path | None, environ: Mapping[str, str]) -> bool:
    """Tell whether neither the environment nor the file has any other setting."""
    if any(name.upper().startswith(_PREFIX) and name not in _HARMLESS for name in environ):
        return False
    named = Path(environ[_CONFIG]) if config is None and _CONFIG in environ else config
    path = place.usual_file() if named is None else named
    try:
        with path.open("rb") as file:
            whole = parse(file.read(place.LARGEST_FILE + 1), max_bytes=place.LARGEST_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return named is None
    except (OSError, StrictError):
        return False
    ours = whole.get(_OURS, {}) if isinstance(whole, dict) and whole.keys() <= {*_SERVERS, _OURS} else None
    return isinstance(ours, dict) and ours.keys() <= {"data_dir"}
