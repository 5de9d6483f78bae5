"""Claude Code: user and local servers in `~/.claude.json`, a project's servers in the project's `.mcp.json`."""

from pathlib import Path

from mcpguard.agents.dialects import reader, standard
from mcpguard.agents.program import EVERY, AgentProgram, ConfigFile, Home
from mcpguard.agents.variables import shell

_SERVERS = "mcpServers"


def _places(home: Home, folder: Path) -> tuple[ConfigFile, ...]:
    own = (home.folder_from("CLAUDE_CONFIG_DIR") or home.folder) / ".claude.json"
    return (
        ConfigFile(own, (_SERVERS,), connectable=True),
        ConfigFile(own, ("projects", EVERY, _SERVERS), scope="local"),
        ConfigFile(folder / ".mcp.json", (_SERVERS,), scope="project", folder=folder),
    )


PROGRAM = AgentProgram(
    name="claude-code",
    title="Claude Code",
    after="start a new session of Claude Code; /mcp shows its servers",
    places=_places,
    entry=standard,
    members=reader(shell),
)
