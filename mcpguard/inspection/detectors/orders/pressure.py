"""Detects urgency, false authority and threats: reasons to obey that are unrelated to what a tool does (T1)."""

from typing import Final

from mcpguard.domain.findings import Severity
from mcpguard.inspection.detectors.detector import DetectorRule, phrase_detector, phrases

_AUTHORITY: Final = DetectorRule("pressure.authority", "T1", Severity.LOW, 0.2, "Claims authority")
_URGENT: Final = DetectorRule("pressure.urgency", "T1", Severity.LOW, 0.15, "Creates urgency")
_THREAT: Final = DetectorRule("pressure.threat", "T1", Severity.LOW, 0.15, "Threatens consequences if not obeyed")
DETECTOR: Final = phrase_detector(
    phrases(
        _AUTHORITY,
        "AUTHORITY 8 MUST|CALL|SEND|READ|CARRY",
        "MUST|SEND|READ|CARRY|CALL 10 AUTHORITY",
    ),
    phrases(_URGENT, "URGENT 3 CALL|SEND|READ", "MUST 2 URGENT"),
    phrases(
        _THREAT,
        "MUST 14 OTHERWISE",
        "NEVER 10 OTHERWISE",
        "READ|CALL|CARRY 12 OTHERWISE",
    ),
)
