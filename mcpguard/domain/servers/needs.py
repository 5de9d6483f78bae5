"""Access that a server seems to need but its sandbox denies, with sentences for agents and for reviewers."""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Need(StrEnum):
    """What a sandbox denies to a server."""

    NETWORK = "network"
    WRITING = "writing"
    FILES = "files"
    OWNERSHIP = "ownership"

    @property
    def fact(self) -> str:
        """The restriction as a sentence for agents. It names no folder of this host."""
        return _FACTS[self]

    @property
    def remedy(self) -> str:
        """What a reviewer can change, as a clause."""
        return _REMEDIES[self]


_FACTS: Final = MappingProxyType(
    {
        Need.NETWORK: "This server has no network access.",
        Need.WRITING: "This server can write only to its own temporary folders and to mounts with write access.",
        Need.FILES: "This server sees only its own files and its mounts.",
        Need.OWNERSHIP: "This server does not run as the owner of its mounts.",
    }
)
_REMEDIES: Final = MappingProxyType(
    {
        Need.NETWORK: "choose the sandbox contained, which has network access",
        Need.WRITING: "mount the folder that it writes to as PATH:rw, and name it in the arguments or variables",
        Need.FILES: "mount the folder, and let the group that the server runs in read it (chgrp and chmod g+rX)",
        Need.OWNERSHIP: (
            "make git trust the folder: GIT_CONFIG_COUNT=1, GIT_CONFIG_KEY_0=safe.directory, GIT_CONFIG_VALUE_0=PATH "
            "as variables"
        ),
    }
)
CONFINED: Final = "mcpguard runs it in a sandbox; only a reviewer can allow more."
"""Follows the facts in what agents are told."""


@dataclass(frozen=True, slots=True)
class NeedSign:
    """A sign of a need. `seen` says what was seen, in words of ours and names of the server's tools."""

    need: Need
    seen: str
