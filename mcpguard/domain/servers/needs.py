"""What a confined server needs and its sandbox does not give it, and what is said of that."""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Need(StrEnum):
    """What a sandbox keeps from a server."""

    NETWORK = "network"
    WRITING = "writing"
    FILES = "files"
    OWNERSHIP = "ownership"

    @property
    def fact(self) -> str:
        """How it is with a server that needs this, for agents. It names no folder of this machine."""
        return _FACTS[self]

    @property
    def remedy(self) -> str:
        """What a person can choose, for people."""
        return _REMEDIES[self]


_FACTS: Final = MappingProxyType(
    {
        Need.NETWORK: "This server runs without network.",
        Need.WRITING: "This server can write to its own temporary folders, and otherwise only where it was allowed to.",
        Need.FILES: "This server sees no files of this machine but its own and those in folders that it was given.",
        Need.OWNERSHIP: "This server does not run as the owner of the folders that it was given.",
    }
)
_REMEDIES: Final = MappingProxyType(
    {
        Need.NETWORK: "choose the sandbox contained, which has the network",
        Need.WRITING: "give it the folder that it writes to, as PATH:rw, and name it in its arguments or variables",
        Need.FILES: "give it the folder, and let the group that it runs in read it (chgrp and chmod g+rX)",
        Need.OWNERSHIP: (
            "let git trust the folder: GIT_CONFIG_COUNT=1, GIT_CONFIG_KEY_0=safe.directory, GIT_CONFIG_VALUE_0=PATH "
            "as variables"
        ),
    }
)
CONFINED: Final = "mcpguard runs it in a sandbox; only a person can give it more."
"""Said to agents behind the facts."""


@dataclass(frozen=True, slots=True)
class NeedSign:
    """Something that suggests a need. `seen` says what, in words of ours and names of the server's tools."""

    need: Need
    seen: str
