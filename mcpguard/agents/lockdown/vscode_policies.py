"""VS Code: its policies, as `policy.json` on Linux, as values for a management tool on macOS and Windows.

Values of lists are texts with JSON in them: so they are documented for every system.
"""

import json
import plistlib
from typing import Final

from mcpguard.agents.lockdown.deployment import (
    AdminPage,
    LockableProgram,
    LockdownWish,
    SystemFile,
    TargetSystem,
    matcher,
    posix,
)

_FILE: Final = posix("/etc/vscode/policy.json")
_KEY: Final = r"HKEY_LOCAL_MACHINE\SOFTWARE\Policies\Microsoft\VSCode"


def _files(wish: LockdownWish, system: TargetSystem) -> tuple[SystemFile, ...]:
    return (SystemFile(_FILE, (), _policies(wish)),) if system is TargetSystem.LINUX else ()


def _pages(wish: LockdownWish, system: TargetSystem) -> tuple[AdminPage, ...]:
    policies = _policies(wish)
    match system:
        case TargetSystem.LINUX:
            return ()
        case TargetSystem.MACOS:
            text = plistlib.dumps(policies, sort_keys=False).decode()
            return (AdminPage("a configuration profile for the preference domain com.microsoft.VSCode", text),)
        case TargetSystem.WINDOWS:
            lines = [f"{json.dumps(name)}={_registry(value)}" for name, value in policies.items()]
            text = "\r\n".join(("Windows Registry Editor Version 5.00", "", f"[{_KEY}]", *lines, ""))
            return (AdminPage("the registry, by group policy, Intune or a .reg file", text),)


def _policies(wish: LockdownWish) -> dict[str, object]:
    policies: dict[str, object] = {
        "ChatAllowedMcpServers": json.dumps([matcher(wish.reach)]),
        "ChatAllowManagedMcpServersOnly": True,
    }
    if wish.registry:
        policies |= {"ChatMCP": "registry", "McpGalleryServiceUrl": wish.registry}
    return policies


def _registry(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else f"dword:{int(bool(value)):08x}"


PROGRAM = LockableProgram(
    name="vscode",
    title="VS Code",
    checked="microsoft/vscode#326226 (1.130), its exported policy data and code.visualstudio.com, read on 2026-11-27",
    reads=("vscode",),
    after="restart VS Code; “Developer: Policy Diagnostics” must show the policies, then each person adds the guard",
    files=_files,
    pages=_pages,
)
