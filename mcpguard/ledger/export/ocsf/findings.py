"""Events of findings in a server's listing: Detection Finding.

A listing without findings is an entity event.
"""

from typing import Any, Final

from mcpguard.domain.findings import FLAGGED
from mcpguard.ledger.export.line import ExportLine
from mcpguard.ledger.export.ocsf import entities
from mcpguard.ledger.export.ocsf.actors import decider
from mcpguard.ledger.export.ocsf.event import (
    HIGH,
    LOW,
    MEDIUM,
    OTHER,
    SECURITY_CONTROL,
    UNKNOWN,
    Class,
    Event,
    event,
    number,
    texts,
    without_none,
    words,
)

_CAPTIONS: Final = {0: "Unknown", 1: "Create", 2: "Update", 3: "Close", OTHER: "Other"}
FINDING: Final = Class(2004, "Detection Finding", (2, "Findings"), _CAPTIONS)
_CREATED: Final = FINDING.activity(1)
_SEEN: Final = {"action_id": 3, "action": "Observed", "disposition_id": 15, "disposition": "Detected"}
_NEW: Final = {"status_id": 1, "status": "New"}
_TITLE: Final = "Findings in what a server lists"
_COUNTS: Final = ("capabilities", "findings", "hard", "grave", "more_rules")


def finding_event(record: ExportLine) -> Event:
    said = texts(record.said)
    counts = {key: number(record.said, key) or 0 for key in _COUNTS if key in record.said or key != "grave"}
    grave = counts.get("grave", counts["hard"])  # older records tell the hard ones alone
    rules = words(said.get("rules"))
    if not rules and counts["findings"] <= 0 and grave <= 0:
        return entities.listing_event(record)
    risk = number(record.said, "risk") or 0
    severity = HIGH if grave > 0 else MEDIUM if risk >= FLAGGED else LOW
    made = event(record, _CREATED, severity, _TITLE, None, SECURITY_CONTROL)
    server = without_none(
        [("name", said.get("server")), ("uid", said.get("upstream")), ("version", said.get("artifact"))]
    )
    if "name" not in server and "uid" not in server:
        server["name"] = UNKNOWN
    evidence: dict[str, Any] = {"data": {"rules": rules, **counts}}
    if "by" in said:
        evidence["actor"] = decider(said)
    made |= {
        **_SEEN,
        **_NEW,
        "finding_info": _info(made, rules),
        "resources": [{**server, "type": "server"}],
        "evidences": [evidence],
        "risk_score": risk,
    }
    return made


def _info(made: Event, rules: list[str]) -> Event:
    worst, *others = [{"type_id": 1, "type": "Rule", "name": rule} for rule in rules or [UNKNOWN]]
    info: Event = {"uid": made["metadata"]["uid"], "title": _TITLE, "created_time": made["time"], "analytic": worst}
    if rules:
        info["types"] = rules
    if others:
        info["related_analytics"] = others
    return info
