"""Something that inspection saw, with its evidence; and all that it saw in one thing."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

FLAGGED: Final = 40
"""Whatever has this risk or a higher one is flagged."""


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


def is_grave(severity: Severity, *, hard: bool) -> bool:
    """Whether a person has to say that they have read such a finding before what it is in can be approved."""
    return hard or severity in (Severity.HIGH, Severity.CRITICAL)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where in a definition: the JSON path of a string, and the part of it."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Something inspection saw. `title` is a constant of ours and never contains the upstream's text.

    `about`: the tool of another server that it has to do with, as `server:tool`. Others chose that name.
    """

    rule: str
    threat: str
    severity: Severity
    confidence: float
    hard: bool
    title: str
    evidence: Evidence
    about: str = ""

    @property
    def grave(self) -> bool:
        """Whether a person has to say that they have read it before what it is in can be approved."""
        return is_grave(self.severity, hard=self.hard)


@dataclass(frozen=True, slots=True)
class Inspected:
    """What was found, the worst first, and the risk from 0 to 100. Last comes what was not looked at, if any."""

    findings: tuple[Finding, ...]
    risk: int

    @property
    def hard(self) -> bool:
        return any(found.hard for found in self.findings)

    @property
    def grave(self) -> frozenset[str]:
        """The rules of what a person has to have read."""
        return frozenset(found.rule for found in self.findings if found.grave)

    @property
    def flagged(self) -> bool:
        return self.hard or self.risk >= FLAGGED


def weight(found: Finding) -> tuple[bool, int, float]:
    """More for what is worse."""
    return found.hard, _SEVERITIES.index(found.severity), found.confidence


_SEVERITIES: Final = tuple(Severity)
