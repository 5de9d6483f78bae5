"""Two small demonstration servers, which are added in quarantine like any other server.

Their only destructive call is held for approval, unless a setting says which calls are held. They run in the sandbox,
where mcpguard's own code is visible only if it is installed; when run from a source tree, the tree is mounted.
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
"""The settings that only `serve --demo` makes."""


async def add_demo_servers(guard: Guard) -> None:
    """Add the demo servers that were never added before. One that a user has removed does not come back."""
    source = DeclarationSource(Origin.CLI, Actor.with_full_rights(getpass.getuser(), "command line", "serve --demo"))
    for name, which in SERVERS.items():
        if not guard.admission.ever_had(name):
            members = {"command": sys.executable, "args": ["-m", "mcpguard.demo", which], "mounts": _sources()}
            await guard.admission.add(name, members, source)


def _sources() -> list[str]:
    package = Path(mcpguard.__file__).parent
    return [] if package.is_relative_to(sys.prefix) else [str(package)]
