"""Cursor: `mcp.json` in its folders in the home and in a project."""

from pathlib import Path

from mcpguard.agents.dialects import reader, standard
from mcpguard.agents.program import AgentProgram, ConfigFile, Home, Reach
from mcpguard.agents.variables import editor

_KEYS = ("mcpServers",)


def _places(home: Home, folder: Path) -> tuple[ConfigFile, ...]:
    return (
        ConfigFile(home.folder / ".cursor" / "mcp.json", _KEYS, connectable=True),
        ConfigFile(folder / ".cursor" / "mcp.json", _KEYS, scope="project", folder=folder),
    )


def _entry(reach: Reach) -> dict[str, object]:
    return standard(reach, typed=not reach.url)  # Cursor detects a URL's transport itself


PROGRAM = AgentProgram(
    name="cursor",
    title="Cursor",
    after="switch mcpguard on in the settings of Cursor, under Tools & MCP",
    places=_places,
    entry=_entry,
    members=reader(editor),
)
