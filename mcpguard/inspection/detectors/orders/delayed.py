"""Texts that speak of the review they are under, or promise to be something else after it (T8)."""

from typing import Final

from mcpguard.domain.findings import Severity
from mcpguard.inspection.detectors.detector import DetectorRule, phrases, saying

_LATER: Final = DetectorRule(
    "delayed.review", "T8", Severity.HIGH, 0.6, "It is to behave differently once it was reviewed"
)
DETECTOR: Final = saying(
    phrases(
        _LATER,
        "UNDER_REVIEW 12 CALL|SEND|TURN|TAMPER|SHELL|DESTROY|CARRY",
        "TURN|TAMPER|SEND|SHELL 10 UNDER_REVIEW",
    ),
)
