"""The list of programs that can be confined to the guard. To add one, write its module and list it here."""

from typing import Final

from mcpguard.agents.lockdown import admin_pages, claude_managed, codex_requirements, copilot_managed, vscode_policies
from mcpguard.agents.lockdown.deployment import LockableProgram

LOCKABLE: Final[tuple[LockableProgram, ...]] = (
    claude_managed.PROGRAM,
    copilot_managed.PROGRAM,
    vscode_policies.PROGRAM,
    codex_requirements.PROGRAM,
    admin_pages.CURSOR,
    admin_pages.WINDSURF,
)
BY_NAME: Final = {each.name: each for each in LOCKABLE}
