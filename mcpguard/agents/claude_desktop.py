"""Claude Desktop: one file, which names commands only and knows no variables."""

from functools import partial
from pathlib import Path

from mcpguard.agents.dialects import reader, standard
from mcpguard.agents.program import AgentProgram, ConfigFile, Home
from mcpguard.agents.variables import none


def _places(home: Home, _folder: Path) -> tuple[ConfigFile, ...]:
    return (
        ConfigFile(home.configuration / "Claude" / "claude_desktop_config.json", ("mcpServers",), connectable=True),
    )


PROGRAM = AgentProgram(
    name="claude-desktop",
    title="Claude Desktop",
    after="quit Claude Desktop altogether and start it again",
    places=_places,
    entry=partial(standard, typed=False),
    members=reader(none),
    http=False,
)
