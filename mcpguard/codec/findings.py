"""What inspection found ⇄ JSON: as it is shown, and as bytes that are kept.

Of what a server wrote there are only paths and places in it, never a text; a path is made of names of members.
"""

from collections.abc import Iterable
from typing import Any, Final

import orjson

from mcpguard.domain.findings import Evidence, Finding, Inspected, Severity

VERSION: Final = 1


def as_json(found: Finding) -> dict[str, Any]:
    """The one form in which a finding is given to programs. There may be very many, so it is written out here."""
    place = found.evidence
    return {
        "rule": found.rule,
        "threat": found.threat,
        "severity": found.severity.value,
        "confidence": found.confidence,
        "hard": found.hard,
        "title": found.title,
        "evidence": {"path": place.path, "start": place.start, "end": place.end},
        "about": found.about,
    }


def titles(findings: Iterable[Finding], most: int) -> list[dict[str, str]]:
    """The first so many different titles, which are constants of ours, each with its severity."""
    said: dict[str, str] = {}
    for found in findings:
        said.setdefault(found.title, found.severity.value)
    return [{"title": title, "severity": severity} for title, severity in said.items()][:most]


def write(inspected: Inspected) -> bytes:
    found = [as_json(each) for each in inspected.findings]
    return orjson.dumps({"v": VERSION, "risk": inspected.risk, "findings": found})


def read(content: bytes) -> Inspected:
    """What `write` wrote."""
    said = orjson.loads(content)
    if said["v"] != VERSION:
        raise ValueError(f"findings of version {said['v']}, which this version does not know")
    return Inspected(tuple(_finding(each) for each in said["findings"]), said["risk"])


def _finding(said: dict[str, Any]) -> Finding:
    severity, evidence = Severity(said["severity"]), Evidence(**said["evidence"])
    return Finding(**{**said, "severity": severity, "evidence": evidence})
