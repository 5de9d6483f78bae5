"""Converts findings to JSON for programs, and to bytes for the database and back.

Findings contain only paths and spans of a server's content, never its text; a path consists of member names.
"""

from collections.abc import Iterable
from typing import Any, Final

import orjson

from mcpguard.domain.findings import Evidence, Finding, InspectionFindings, Severity

VERSION: Final = 1


def as_json(finding: Finding) -> dict[str, Any]:
    """Return the one form of a finding for programs. It is written out by hand, as there may be very many."""
    place = finding.evidence
    return {
        "rule": finding.rule,
        "threat": finding.threat,
        "severity": finding.severity.value,
        "confidence": finding.confidence,
        "hard": finding.hard,
        "title": finding.title,
        "evidence": {"path": place.path, "start": place.start, "end": place.end},
        "about": finding.about,
    }


def titles(findings: Iterable[Finding], most: int) -> list[dict[str, str]]:
    """Return the first `most` different titles, which are constants of ours, each with its severity."""
    severities: dict[str, str] = {}
    for finding in findings:
        severities.setdefault(finding.title, finding.severity.value)
    return [{"title": title, "severity": severity} for title, severity in severities.items()][:most]


def write(inspected: InspectionFindings) -> bytes:
    """Return the findings and the risk as bytes to keep."""
    findings = [as_json(each) for each in inspected.findings]
    return orjson.dumps({"v": VERSION, "risk": inspected.risk, "findings": findings})


def read(content: bytes) -> InspectionFindings:
    """Return the findings that `write` wrote."""
    parsed = orjson.loads(content)
    if parsed["v"] != VERSION:
        raise ValueError(f"findings of version {parsed['v']}, which this version does not know")
    return InspectionFindings(tuple(_finding(each) for each in parsed["findings"]), parsed["risk"])


def _finding(value: dict[str, Any]) -> Finding:
    severity, evidence = Severity(value["severity"]), Evidence(**value["evidence"])
    return Finding(**{**value, "severity": severity, "evidence": evidence})
