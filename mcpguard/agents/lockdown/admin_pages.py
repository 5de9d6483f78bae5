"""Cursor and Windsurf: no file of the system confines them, so an administrator enters it on their page for teams."""

import json
import re

from mcpguard.agents.lockdown.deployment import NAME, AdminPage, LockableProgram, LockdownWish, TargetSystem
from mcpguard.agents.program import Reach


def _cursor(wish: LockdownWish, _system: TargetSystem) -> tuple[AdminPage, ...]:
    reach = wish.reach
    line = f"server address: {reach.url}" if reach.url else f"command: {' '.join(reach.command)}"
    text = f"{line}\nAllow no other server, and do not let members add servers of their own.\n"
    return (AdminPage("cursor.com, Team Settings, MCP Configuration (Enterprise)", text),)


def _windsurf(wish: LockdownWish, _system: TargetSystem) -> tuple[AdminPage, ...]:
    text = f"server id: {NAME}\nserver config:\n{json.dumps(_pattern(wish.reach), indent=2)}\n"
    return (AdminPage("Windsurf's team settings, MCP servers, allowed servers (Teams, Enterprise)", text),)


def _pattern(reach: Reach) -> dict[str, object]:
    """Return the entry with every character escaped that Windsurf would read as a regular expression."""
    if reach.url:
        return {"serverUrl": re.escape(reach.url)}
    return {"command": re.escape(reach.command[0]), "args": [re.escape(word) for word in reach.command[1:]]}


CURSOR = LockableProgram(
    name="cursor",
    title="Cursor",
    checked="cursor.com/docs/enterprise, read on 2026-11-27; the fields of the page itself were not seen",
    reads=(),
    after="no file of this machine says whether it was entered, so --check cannot tell",
    pages=_cursor,
)
WINDSURF = LockableProgram(
    name="windsurf",
    title="Windsurf",
    checked="docs.windsurf.com/windsurf/cascade/mcp, read on 2026-11-27; that it matches serverUrl so was not seen",
    reads=(),
    after="no file of this machine says whether it was entered, so --check cannot tell",
    pages=_windsurf,
)
