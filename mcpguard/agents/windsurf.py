"""Windsurf: one file in the home, with `serverUrl` for remote servers."""

from pathlib import Path

from mcpguard.agents.dialects import reader, standard
from mcpguard.agents.program import AgentProgram, ConfigFile, Home, Reach
from mcpguard.agents.variables import editor


def _places(home: Home, _folder: Path) -> tuple[ConfigFile, ...]:
    return (ConfigFile(home.folder / ".codeium" / "windsurf" / "mcp_config.json", ("mcpServers",), connectable=True),)


def _entry(reach: Reach) -> dict[str, object]:
    made = standard(reach, typed=False)
    return {"serverUrl" if name == "url" else name: value for name, value in made.items()}


PROGRAM = AgentProgram(
    name="windsurf",
    title="Windsurf",
    after="press the refresh button of the MCP servers in Windsurf's Cascade panel",
    places=_places,
    entry=_entry,
    members=reader(editor),
)
