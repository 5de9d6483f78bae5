"""The text of a user's systemd unit that runs the guard.

Rule kept here: systemd reads exactly the words that were meant. Spaces, quotes and backslashes are quoted, `%` stands
twice, and `:` before the command keeps `$` as it is.
"""

import re
from typing import Final

from mcpguard.cli.service.guard_service import GuardService

PLAIN: Final = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
"""Words that need no quotes, once `%` stands twice."""


def systemd_unit(service: GuardService) -> str:
    """The text of the unit."""
    words = " ".join(map(unit_word, service.command))
    literally = ":" if "$" in words else ""
    return "\n".join(
        (
            "[Unit]",
            "Description=mcpguard, a firewall between AI agents and MCP servers",
            "",
            "[Service]",
            f"Environment={unit_word(f'PATH={service.search_path}')}",
            f"ExecStart={literally}{words}",
            "Restart=on-failure",
            "TimeoutStopSec=15",
            "UMask=0077",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        )
    )


def unit_word(word: str) -> str:
    """A word as it stands in a unit. It has no control characters."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return escaped if PLAIN.fullmatch(escaped) else f'"{escaped}"'
