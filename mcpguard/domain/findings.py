"""Something that inspection saw, with its evidence."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where in a definition: the JSON path of a string, and the part of it."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Something inspection saw. `title` is a constant of ours and never contains the upstream's text."""

    rule: str
    threat: str
    severity: Severity
    confidence: float
    hard: bool
    title: str
    evidence: Evidence
