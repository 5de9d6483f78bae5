"""The environment of a server's process: a short list of what it needs to run at all, and what was configured for it.

The guard's own environment may hold secrets of all kinds, so nothing is inherited but what is named here.
"""

from collections.abc import Mapping

INHERITED = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME"}
)


def environment(ours: Mapping[str, str], configured: Mapping[str, str]) -> dict[str, str]:
    """What the process gets. What is configured wins."""
    kept = {name: value for name, value in ours.items() if name in INHERITED or name.startswith("LC_")}
    return {**kept, **configured}
