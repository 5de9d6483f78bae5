"""The list of supported programs. To add one, write its module and list it here."""

from typing import Final

from mcpguard.agents import claude_code, claude_desktop, codex, cursor, vscode, windsurf
from mcpguard.agents.program import AgentProgram

PROGRAMS: Final[tuple[AgentProgram, ...]] = (
    claude_code.PROGRAM,
    claude_desktop.PROGRAM,
    cursor.PROGRAM,
    vscode.PROGRAM,
    windsurf.PROGRAM,
    codex.PROGRAM,
)
BY_NAME: Final = {each.name: each for each in PROGRAMS}
