"""Capabilities of servers: their kinds, effects, fingerprints and names."""

import re
from dataclasses import dataclass
from enum import StrEnum

from mcpguard.domain.errors import InvalidName

FINGERPRINT = re.compile(r"v1:[0-9a-f]{64}")


class CapabilityKind(StrEnum):
    """The kinds of capability that a server can offer."""

    TOOL = "tool"
    RESOURCE = "resource"
    TEMPLATE = "template"
    PROMPT = "prompt"
    INSTRUCTIONS = "instructions"


class Effect(StrEnum):
    """The effect of a tool on the world, from harmless to irreversible."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """SHA-256 of the canonical form of a definition or of a launch identity, with the version of that form."""

    text: str

    def __post_init__(self) -> None:
        if not FINGERPRINT.fullmatch(self.text):
            raise InvalidName("a fingerprint is v1: and 64 lower-case hexadecimal digits")

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Capability:
    """One capability of a server: the server's name, the kind, and its own name."""

    server: str
    kind: CapabilityKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.server}:{self.name}"
