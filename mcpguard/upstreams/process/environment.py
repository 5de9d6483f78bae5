"""The environment of a server process: the few variables every program needs, and those configured for the server.

The guard's own environment may hold secrets of all kinds, so only the variables listed here are inherited.
"""

from collections.abc import Mapping

INHERITED = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME"}
)


def environment(ours: Mapping[str, str], configured: Mapping[str, str]) -> dict[str, str]:
    """Return the process's environment. Configured variables win over inherited ones."""
    kept = {name: value for name, value in ours.items() if name in INHERITED or name.startswith("LC_")}
    return {**kept, **configured}
