"""Codex: `requirements.toml` of the system names the one server that may run, by its name and its identity.

The plain form of a command compares the program only and would admit any arguments: of a Python interpreter, for
example, any program at all. So the form that compares every argument is used.
"""

from typing import Final

from mcpguard.agents.lockdown.deployment import (
    NAME,
    LockableProgram,
    LockdownWish,
    SystemFile,
    TargetSystem,
    posix,
    windows,
)
from mcpguard.agents.program import FileForm, Reach

_FILES: Final = {
    TargetSystem.LINUX: posix("/etc/codex/requirements.toml"),
    TargetSystem.MACOS: posix("/etc/codex/requirements.toml"),
    TargetSystem.WINDOWS: windows(r"C:\ProgramData\OpenAI\Codex\requirements.toml"),
}


def _files(wish: LockdownWish, system: TargetSystem) -> tuple[SystemFile, ...]:
    allowed = {NAME: {"identity": _identity(wish.reach)}}
    return (SystemFile(_FILES[system], ("mcp_servers",), allowed, sole=True, form=FileForm.TOML),)


def _identity(reach: Reach) -> dict[str, object]:
    if reach.url:
        return {"url": reach.url}
    program, *arguments = reach.command
    return {"command": {"executable": program, "args": [{"match": "exact", "value": word} for word in arguments]}}


PROGRAM = LockableProgram(
    name="codex",
    title="Codex",
    checked="openai/codex, #9101 and #29648, read on 2026-11-27, and tried with 0.171.0 on Linux",
    reads=("codex",),
    after=f"each person adds the guard to Codex under the name {NAME}, at exactly this address or command",
    files=_files,
)
