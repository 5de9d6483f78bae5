"""Claude Code: `managed-mcp.json` has the guard and takes exclusive control, `managed-settings.json` admits no other.

`managedMcpServers` is removed: servers that it provides need no entry in the list of allowed ones.
"""

from typing import Final

from mcpguard.agents.dialects import standard
from mcpguard.agents.lockdown.deployment import (
    NAME,
    LockableProgram,
    LockdownWish,
    SystemFile,
    TargetSystem,
    matcher,
    posix,
    windows,
)

_FOLDERS: Final = {
    TargetSystem.LINUX: posix("/etc/claude-code"),
    TargetSystem.MACOS: posix("/Library/Application Support/ClaudeCode"),
    TargetSystem.WINDOWS: windows(r"C:\Program Files\ClaudeCode"),
}


def _files(wish: LockdownWish, system: TargetSystem) -> tuple[SystemFile, ...]:
    folder = _FOLDERS[system]
    settings = {"allowedMcpServers": [matcher(wish.reach)], "allowManagedMcpServersOnly": True}
    return (
        SystemFile(folder / "managed-mcp.json", ("mcpServers",), {NAME: standard(wish.reach)}, sole=True),
        SystemFile(folder / "managed-settings.json", (), settings, frozenset({"managedMcpServers"})),
    )


PROGRAM = LockableProgram(
    name="claude-code",
    title="Claude Code",
    checked="code.claude.com/docs/en/managed-mcp, read on 2026-11-27, and tried with 2.1.332 on Linux",
    reads=("claude-code",),
    after="start a new session of Claude Code; claude mcp list must show nothing but the guard",
    files=_files,
)
