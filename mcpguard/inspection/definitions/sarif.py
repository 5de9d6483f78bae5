"""Writes findings as SARIF 2.1.0, piece by piece, so that a file of any length is written while it is scanned.

The document contains no text of a definition. It refers to a line of the scanned file, a JSON path and a span.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from mcpguard import __version__
from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.rules.rule_table import DetectorRule

_LEVELS: Final = {
    Severity.INFO: "note",
    Severity.LOW: "note",
    Severity.MEDIUM: "warning",
    Severity.HIGH: "error",
    Severity.CRITICAL: "error",
}
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def empty_log(rules: Iterable[DetectorRule]) -> dict[str, Any]:
    """Return the document with its rules and no results yet."""
    driver = {"name": "mcpguard", "version": __version__, "rules": [_rule(each) for each in rules]}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": []}]}


def sarif_results(uri: str, line: int, findings: Iterable[Finding]) -> Iterator[dict[str, Any]]:
    """Yield a result for each finding in the given line of the file at `uri`."""
    for finding in findings:
        evidence = finding.evidence
        yield {
            "ruleId": finding.rule,
            "level": _LEVELS[finding.severity],
            "message": {"text": finding.title},
            "locations": [
                {
                    "physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}},
                    "logicalLocations": [{"fullyQualifiedName": evidence.path, "kind": "member"}],
                }
            ],
            "properties": {
                "threat": finding.threat,
                "confidence": finding.confidence,
                "hard": finding.hard,
                "start": evidence.start,
                "end": evidence.end,
            },
        }


def _rule(rule: DetectorRule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.why},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": [rule.threat], "precision": "very-high" if rule.hard else "medium"},
    }
