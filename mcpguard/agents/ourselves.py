"""Which entries of other programs are mcpguard itself: whoever goes through one of them goes through the guard."""

from collections.abc import Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final
from urllib.parse import urlsplit

NAME: Final = "mcpguard"
_RUNNERS: Final = frozenset({"uvx", "uv", "pipx", "python", "python3", "py"})
_URLS: Final = ("url", "serverUrl", "httpUrl")


def ours(entry: object, origins: tuple[str, ...] = ()) -> bool:
    """By what is started, or by where the guard of this machine listens."""
    if not isinstance(entry, Mapping):
        return False
    for key in _URLS:
        if isinstance(url := entry.get(key), str) and _origin(url) in origins:
            return True
    command, arguments = entry.get("command"), entry.get("args")
    words = [each for each in (arguments if isinstance(arguments, list) else ()) if isinstance(each, str)]
    if not isinstance(command, str) or "stdio" not in words:
        return False
    program = _stem(command)
    return program == NAME or (program.rstrip(".0123456789") in _RUNNERS and NAME in words[: words.index("stdio")])


def _stem(command: str) -> str:
    """The name of the program, on whichever system its path was written."""
    name = PureWindowsPath(command).name if "\\" in command else PurePosixPath(command).name
    return name.lower().removesuffix(".exe")


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}".lower()
    except ValueError:
        return ""
