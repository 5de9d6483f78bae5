"""Programs that run a file, and which argument names that file, which is part of the launch identity.

Rules kept here:
1. A file is named only if nothing else decides what runs. An unexpected option may do so; then no file is named.
2. For a program that passes a command on, or searches for what to run, no file can be named.
"""

import re
from collections.abc import Sequence
from typing import Final

_BEHIND: Final = dict.fromkeys(("awk", "gawk", "mawk", "nawk", "make", "gmake"), "-f") | {"java": "-jar"}
"""The option that the file follows; it has to be the first argument."""
_TAKES_THE_REST: Final = frozenset({"java"})
"""Programs that pass everything after the file on to it."""
_FIRST: Final = frozenset({"ash", "fish", "ksh", "mksh", "rscript", "tclsh", "ts-node", "tsx", "dotnet", "mono"})
"""Programs whose first argument is the file."""
_UNKNOWN_FILE: Final = frozenset(
    {
        *("chrt", "doas", "env", "ionice", "nice", "nohup", "setsid", "stdbuf", "sudo", "taskset", "timeout", "xargs"),
        *("cargo", "fastmcp", "go", "gradle", "hatch", "mcp", "mvn", "pdm", "pipenv", "pnpm", "poetry", "rye", "yarn"),
        *("expect", "guile", "julia", "just", "osascript", "pwsh", "powershell", "racket", "sbcl", "escript"),
    }
)
_VERSION: Final = re.compile(r"-?[0-9][0-9.]*$")


def runs_files(program: str) -> bool:
    """Tell whether a program of this name runs files."""
    name = _named(program)
    return name in _BEHIND or name in _FIRST or name in _UNKNOWN_FILE or name == "busybox"


def file_that_runs(program: str, arguments: Sequence[str]) -> str | None:
    """Return the file that decides what the program does; None if that is uncertain."""
    name, words = _named(program), list(arguments)
    if name == "busybox":
        return _first(words[1:]) if words[:1] in (["sh"], ["ash"]) else None
    if name in _FIRST:
        return _first(words)
    if name not in _BEHIND or words[:1] != [_BEHIND[name]] or len(words) == 1:
        return None
    more = () if name in _TAKES_THE_REST else words[2:]
    return None if words[1].startswith("-") or any(word.startswith("-") for word in more) else words[1]


def _first(words: Sequence[str]) -> str | None:
    """Return the first word if it can only be a file: others are commands, or are searched for elsewhere."""
    word = words[0] if words else ""
    return word if ("/" in word or "." in word) and not word.startswith(("-", "+")) else None


def _named(program: str) -> str:
    """Return the name without its version: `ksh93` is `ksh`."""
    return _VERSION.sub("", program.lower())
