"""VS Code and its variants: `mcp.json` of a profile and of a workspace, and the settings file of older versions."""

from pathlib import Path

from mcpguard.agents.dialects import reader, standard
from mcpguard.agents.program import AgentProgram, ConfigFile, Home
from mcpguard.agents.variables import asking

_KEYS = ("servers",)
_OLDER = ("mcp", "servers")
_KIN = {"Code": "user", "Code - Insiders": "user, Insiders", "VSCodium": "user, VSCodium"}


def _places(home: Home, folder: Path) -> tuple[ConfigFile, ...]:
    folders = [(home.configuration / name / "User", scope) for name, scope in _KIN.items()]
    return (
        *(ConfigFile(user / "mcp.json", _KEYS, scope=scope, connectable=True) for user, scope in folders),
        *(ConfigFile(user / "settings.json", _OLDER, scope=scope) for user, scope in folders),
        ConfigFile(folder / ".vscode" / "mcp.json", _KEYS, scope="project", folder=folder),
    )


PROGRAM = AgentProgram(
    name="vscode",
    title="VS Code",
    after="run “MCP: List Servers” in VS Code and start mcpguard there",
    places=_places,
    entry=standard,
    members=reader(asking),
)
