"""Urgency, false authority and threats: reasons to obey that are not about what a tool does (T1)."""

from typing import Final

from mcpguard.domain.findings import Severity
from mcpguard.inspection.detectors.detector import DetectorRule, phrases, saying

_AUTHORITY: Final = DetectorRule(
    "pressure.authority", "T1", Severity.LOW, 0.2, "It leans on an authority that it names itself"
)
_URGENT: Final = DetectorRule("pressure.urgency", "T1", Severity.LOW, 0.15, "It makes haste")
_THREAT: Final = DetectorRule("pressure.threat", "T1", Severity.LOW, 0.15, "It threatens with what happens otherwise")
DETECTOR: Final = saying(
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
