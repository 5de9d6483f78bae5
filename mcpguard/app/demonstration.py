"""Two small servers to try mcpguard with: they come as any other server does, and wait in quarantine.

The one call of theirs that destroys something waits for a person, unless a setting says which calls do. They run in
the sandbox, where our own code is seen only if it was installed: in a copy of the sources it is mounted.
"""

import getpass
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Final

import mcpguard
from mcpguard.domain.decisions import Actor
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.admission import DeclarationSource

SERVERS: Final = MappingProxyType({"demo-notes": "honest", "demo-weather": "poisoned"})
SETTINGS: Final = MappingProxyType({"holds.calls": ["destructive of demo-notes"]})
"""What `serve --demo` sets that nothing else does."""


async def demonstrated(guard: Guard) -> None:
    """Admit those that never were there. What somebody has removed does not come back."""
    source = DeclarationSource(Origin.CLI, Actor.with_full_rights(getpass.getuser(), "command line", "serve --demo"))
    for name, which in SERVERS.items():
        if not guard.admission.ever_had(name):
            members = {"command": sys.executable, "args": ["-m", "mcpguard.demo", which], "mounts": _sources()}
            await guard.admission.add(name, members, source)


def _sources() -> list[str]:
    package = Path(mcpguard.__file__).parent
    return [] if package.is_relative_to(sys.prefix) else [str(package)]
