"""Findings of an inspection with their evidence, and the risk that results from them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_ANOTHERS_TOOL: Final = "another server's tool"
"""What a title says instead of the name of a tool, which only the finding knows."""
FLAGGED: Final = 40
"""The risk from which on something is flagged."""


class Severity(StrEnum):
    """The severity of a finding."""

    INFO = "info"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Its place among the severities; greater is worse."""
        return _SEVERITIES.index(self)

    @property
    def next_lower(self) -> "Severity":
        """The severity below it; the lowest stays."""
        return _SEVERITIES[max(0, self.rank - 1)]


_SEVERITIES: Final = tuple(Severity)


def is_grave(severity: Severity, *, hard: bool) -> bool:
    """Tell whether a reviewer must confirm having read such a finding before approving what it is in."""
    return hard or severity in (Severity.HIGH, Severity.CRITICAL)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place in a definition: the JSON path of a string, and the range of characters."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of inspection. `title` is a constant and never contains text of the server.

    `about`: the tool of another server that the finding refers to, as `server:tool`, or how many there are and some of
    them; others chose these names.
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
        """Whether a reviewer must confirm having read it before approving what it is in."""
        return is_grave(self.severity, hard=self.hard)


@dataclass(frozen=True, slots=True)
class InspectionFindings:
    """The findings, the worst first, and the risk from 0 to 100. What was not inspected comes last, if anything."""

    findings: tuple[Finding, ...]
    risk: int

    @property
    def hard(self) -> bool:
        return any(finding.hard for finding in self.findings)

    @property
    def grave(self) -> frozenset[str]:
        """The rules of the findings that a reviewer must confirm having read."""
        return frozenset(finding.rule for finding in self.findings if finding.grave)

    @property
    def flagged(self) -> bool:
        return self.hard or self.risk >= FLAGGED


def sentence_parts(title: str, about: str) -> tuple[str, str, str]:
    """Return a title in which the other server's tool is named: what stands before the name, the name, what follows."""
    if not about:
        return title, "", ""
    before, names_one, after = title.partition(_ANOTHERS_TOOL)
    return (before, about, after) if names_one else (f"{title}: ", about, "")


def finding_weight(finding: Finding) -> tuple[bool, int, float]:
    """Return a sort key that is greater for worse findings."""
    return finding.hard, finding.severity.rank, finding.confidence
