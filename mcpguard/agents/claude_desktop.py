"""Claude Desktop: one file, with commands only and without variables."""

from functools import partial
from pathlib import Path

from mcpguard.agents.dialects import reader, standard
from mcpguard.agents.program import AgentProgram, ConfigFile, Home
from mcpguard.agents.variables import no_variables


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
    members=reader(no_variables),
    http=False,
)
