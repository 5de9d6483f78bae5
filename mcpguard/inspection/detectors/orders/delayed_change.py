"""Detects text that mentions its own review, or announces different behaviour after it (T8)."""

from typing import Final

from mcpguard.domain.findings import Severity
from mcpguard.inspection.detectors.detector import DetectorRule, phrase_detector, phrases

_LATER: Final = DetectorRule(
    "delayed.review", "T8", Severity.HIGH, 0.6, "Changes behaviour after review (delayed rug pull)"
)
DETECTOR: Final = phrase_detector(
    phrases(
        _LATER,
        "UNDER_REVIEW 12 CALL|SEND|TURN|TAMPER|SHELL|DESTROY|CARRY",
        "TURN|TAMPER|SEND|SHELL 10 UNDER_REVIEW",
    ),
)
