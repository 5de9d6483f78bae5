"""The configuration file: the settings under `mcpguard`, and the servers that the file declares.

The rest of the file may belong to an MCP client and is not read, except to find keys that belong below `mcpguard`
(`misplaced_keys`). The file is strict JSON up to 1 MiB. A file that was named explicitly must exist; the one at the
platform's usual place need not.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

from mcpguard.codec.strict import StrictError, parse
from mcpguard.settings.entries.servers import DeclaredServers, declared_servers
from mcpguard.settings.fields import groups
from mcpguard.settings.layer import LEAVES, SettingsLayer
from mcpguard.settings.misplaced_keys import misplaced_keys
from mcpguard.settings.model import Settings
from mcpguard.settings.problems import SettingOrigin, unknown_setting

LARGEST_FILE: Final = 1024 * 1024
GROUPS: Final = groups(Settings)


def usual_place() -> Path:
    return platformdirs.user_config_path("mcpguard", appauthor=False) / "config.json"


def read(path: Path) -> bytes | None:
    """Return the content of the file, at most a byte longer than the limit; None if it does not exist."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None


def from_file(path: Path, data: bytes) -> tuple[SettingsLayer, DeclaredServers]:
    layer = SettingsLayer("file")
    try:
        whole = parse(data, max_bytes=LARGEST_FILE)
    except StrictError as error:
        place = f", line {error.line}, column {error.column}" if error.line is not None else ""
        layer.problems.append(f"{path}{place}: {error.message}")
        return layer, DeclaredServers()
    if not isinstance(whole, dict):
        layer.problems.append(f'{path} must be a JSON object with the settings under "mcpguard"')
        return layer, DeclaredServers()
    ours = whole.get("mcpguard", {})
    if isinstance(ours, dict):
        _take(layer, path, ours, "")
    else:
        layer.problems.append(f"mcpguard in {path} must be an object")
    layer.problems.extend(misplaced_keys(path, whole))
    return layer, declared_servers(whole)


def _take(layer: SettingsLayer, path: Path, members: Mapping[str, object], prefix: str) -> None:
    for name, value in members.items():
        key = prefix + name
        origin = SettingOrigin.file(path, key)
        if "." in name and key in LEAVES:  # the dotted form would be a second way to write the nested one
            group, _, member = name.partition(".")
            layer.problems.append(f'{origin.subject} must be nested: "{group}": {{"{member}": …}}')
        elif key in LEAVES:
            layer.put(key, value, origin)
        elif key not in GROUPS:
            layer.problems.append(unknown_setting(origin.subject, key, (*GROUPS, *LEAVES)))
        elif isinstance(value, dict):
            _take(layer, path, value, f"{key}.")
        else:
            layer.problems.append(f"{origin.subject} must be an object")
