"""GitHub Copilot: `managed-settings.json` of the system, for Copilot CLI, its app, VS Code and JetBrains IDEs."""

from typing import Final

from mcpguard.agents.lockdown.deployment import (
    LockableProgram,
    LockdownWish,
    SystemFile,
    TargetSystem,
    matcher,
    posix,
    windows,
)

_FILES: Final = {
    TargetSystem.LINUX: posix("/etc/github-copilot/managed-settings.json"),
    TargetSystem.MACOS: posix("/Library/Application Support/GitHubCopilot/managed-settings.json"),
    TargetSystem.WINDOWS: windows(r"C:\Program Files\GitHubCopilot\managed-settings.json"),
}


def _files(wish: LockdownWish, system: TargetSystem) -> tuple[SystemFile, ...]:
    return (SystemFile(_FILES[system], (), {"allowedMcpServers": [matcher(wish.reach)]}),)


PROGRAM = LockableProgram(
    name="copilot",
    title="GitHub Copilot",
    checked="docs.github.com, managed settings, read on 2026-11-27; read by Copilot CLI 1.0.102 on Linux",
    reads=("vscode",),
    after="restart the program; each person then adds the guard to it, at exactly this address or command",
    files=_files,
)
