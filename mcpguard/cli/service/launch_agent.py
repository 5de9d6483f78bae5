"""The text of a launch agent of macOS that runs the guard."""

import plistlib
from typing import Final

from mcpguard.cli.service.guard_service import GuardService

LABEL: Final = "mcpguard"


def launch_agent(service: GuardService) -> str:
    """The text of the property list."""
    members = {
        "Label": LABEL,
        "ProgramArguments": list(service.command),
        "EnvironmentVariables": {"PATH": service.search_path},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ExitTimeOut": 15,
        "Umask": 0o077,
        "StandardErrorPath": service.log_file,
    }
    return plistlib.dumps(members, sort_keys=False).decode()
