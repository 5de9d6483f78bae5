"""Detects urgency, false authority and threats: reasons to obey that are unrelated to what a tool does (T1)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases

DETECTOR: Final = phrase_detector(
    phrases(
        "pressure.authority",
        "AUTHORITY 8 MUST|CALL|SEND|READ|CARRY",
        "MUST|SEND|READ|CARRY|CALL 10 AUTHORITY",
    ),
    phrases("pressure.urgency", "URGENT 3 CALL|SEND|READ", "MUST 2 URGENT"),
    phrases(
        "pressure.threat",
        "MUST 14 OTHERWISE",
        "NEVER 10 OTHERWISE",
        "READ|CALL|CARRY 12 OTHERWISE",
    ),
)
