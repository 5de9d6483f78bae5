"""Finds the guard's data directory without loading the settings, which would take longer than all else a relay does.

Rules kept here:
1. The order is that of `mcpguard.settings.load`: command line, environment, file, default. A test compares them.
2. Only the data directory is read. The guard reports other mistakes in the settings when it starts; a file that is not
   needed is not opened.
"""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

from mcpguard.codec.strict import StrictError, parse
from mcpguard.relay.problem import CannotRelay

LARGEST_FILE: Final = 1024 * 1024
LONGEST_PATH: Final = 100
AGENTS: Final = "agents.sock"
OPERATOR: Final = "operator.sock"
_DATA_DIR: Final = "MCPGUARD_DATA_DIR"
_CONFIG: Final = "MCPGUARD_CONFIG"


def agents_socket(data_dir: Path) -> Path:
    return socket_path(data_dir, AGENTS)


def operator_socket(data_dir: Path) -> Path:
    return socket_path(data_dir, OPERATOR)


def socket_path(data_dir: Path, name: str) -> Path:
    """Return a path in the data directory, or a shorter one if that is too long for a socket."""
    path = data_dir / name
    if len(os.fsencode(path)) <= LONGEST_PATH:
        return path
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
    runtime = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    return Path(runtime) / f"mcpguard-{os.getuid()}" / f"{digest}-{name}"


def data_directory(given: Path | None, config: Path | None, environ: Mapping[str, str]) -> Path:
    """Return the data directory that a guard with these options has. `config` is the file named on the command
    line.
    """
    if given is not None:
        return _resolved(given, "--data-dir on the command line")
    if _DATA_DIR in environ:
        return _meant(environ[_DATA_DIR], f"{_DATA_DIR} in the environment")
    if config is not None:
        return _named_file(config, "on the command line")
    if _CONFIG in environ:
        return _named_file(Path(environ[_CONFIG]), f"by {_CONFIG} in the environment")
    path = usual_file()
    data = _read(path, str(path))
    return _default() if data is None else _in_file(path, data)


def usual_file() -> Path:
    """Return the configuration file that is read where none is named."""
    return platformdirs.user_config_path("mcpguard", appauthor=False) / "config.json"


def _named_file(named: Path, how: str) -> Path:
    path = named.absolute()
    data = _read(path, f"{path}, named {how},")
    if data is None:
        raise CannotRelay(f"{path}, named {how}, does not exist")
    return _in_file(path, data)


def _read(path: Path, subject: str) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise CannotRelay(f"{subject} cannot be read: {error.strerror}") from None


def _in_file(path: Path, data: bytes) -> Path:
    try:
        whole = parse(data, max_bytes=LARGEST_FILE)
    except StrictError as error:
        place = f", line {error.line}, column {error.column}" if error.line is not None else ""
        raise CannotRelay(f"{path}{place}: {error.message}") from None
    if not isinstance(whole, dict):
        raise CannotRelay(f'{path} must be a JSON object with the settings under "mcpguard"')
    ours = whole.get("mcpguard", {})
    if not isinstance(ours, dict):
        raise CannotRelay(f"mcpguard in {path} must be an object")
    return _meant(ours["data_dir"], f"mcpguard.data_dir in {path}") if "data_dir" in ours else _default()


def _meant(said: object, subject: str) -> Path:
    if said == "":
        raise CannotRelay(f"{subject} must name a path; it is empty")
    if not isinstance(said, str):
        raise CannotRelay(f"{subject} must be a path")
    return _resolved(Path(said), subject)


def _resolved(path: Path, subject: str) -> Path:
    try:
        return path.expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        raise CannotRelay(f"{subject} must be a path that can be resolved") from None


def _default() -> Path:
    return platformdirs.user_data_path("mcpguard", appauthor=False).resolve()
