"""What a reviewer is advised to do with a server, from its findings alone.

Rules kept here:
1. Advice decides nothing, and nothing is chosen because of it. Whoever follows it still confirms what has to be read.
2. The worst finding decides. Grave findings of one kind may be one clumsy text; of two kinds, they are a plan.
3. A server that was not inspected is never advised to be approved.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.rules.rule_table import rule_of

_PLAN: Final = 2
"""Kinds of critical findings from which on a server is advised to be blocked."""


class Recommendation(StrEnum):
    """What to do with a server that needs review."""

    INSPECT = "inspect"
    BLOCK = "block"
    KEEP = "keep in quarantine"
    APPROVE_REST = "approve without the flagged"
    APPROVE = "approve"


@dataclass(frozen=True, slots=True)
class FindingKind:
    """What findings of one section of the rule table are about, the worst of them, and in what they are: None stands
    for the launch.
    """

    about: str
    worst: Severity
    parts: tuple[CapabilityKey | None, ...]


@dataclass(frozen=True, slots=True)
class ReviewAdvice:
    """The recommendation, the kinds of findings, the worst first, and how many findings there are of each severity.

    `worst_in`: in how many capabilities there are findings of the worst severity.
    """

    recommendation: Recommendation
    kinds: tuple[FindingKind, ...]
    counts: tuple[tuple[Severity, int], ...]
    worst_in: int

    @property
    def worst(self) -> Severity | None:
        """The worst severity; None without findings."""
        return self.counts[0][0] if self.counts else None


def advise(findings: Iterable[tuple[Finding, CapabilityKey | None]], *, inspected: bool) -> ReviewAdvice:
    """Return the advice about a server with these findings, each with the capability that it is in."""
    found = list(findings)
    kinds = _kinds(found)
    counts = Counter(finding.severity for finding, _ in found)
    critical = {_about(finding) for finding, _ in found if finding.hard or finding.severity is Severity.CRITICAL}
    by_severity = tuple((each, counts[each]) for each in reversed(Severity) if counts[each])
    worst = by_severity[0][0] if by_severity else None
    worst_in = {key for finding, key in found if finding.severity is worst and key is not None}
    recommended = _recommended(by_severity, len(critical), inspected=inspected)
    return ReviewAdvice(recommended, kinds, by_severity, len(worst_in))


_SLIGHT: Final = (Severity.INFO, Severity.LOW)


def _recommended(counts: tuple[tuple[Severity, int], ...], critical_kinds: int, *, inspected: bool) -> Recommendation:
    if critical_kinds:
        return Recommendation.BLOCK if critical_kinds >= _PLAN else Recommendation.KEEP
    if not inspected:
        return Recommendation.INSPECT
    if any(severity not in _SLIGHT for severity, _ in counts):
        return Recommendation.APPROVE_REST
    return Recommendation.APPROVE


def _kinds(found: list[tuple[Finding, CapabilityKey | None]]) -> tuple[FindingKind, ...]:
    worst, parts = dict[str, Severity](), dict[str, dict[CapabilityKey | None, None]]()
    for finding, key in sorted(found, key=lambda each: each[0].severity.rank, reverse=True):
        about = _about(finding)
        worst.setdefault(about, finding.severity)
        parts.setdefault(about, {})[key] = None
    return tuple(FindingKind(about, severity, tuple(parts[about])) for about, severity in worst.items())


def _about(finding: Finding) -> str:
    rule = rule_of(finding)
    return rule.section if rule else finding.rule
