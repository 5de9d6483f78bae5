"""Detects tools that make the model ask the user for credentials: passwords, codes, card numbers (T13, T20)."""

from typing import Final

from mcpguard.domain.findings import Severity
from mcpguard.inspection.detectors.detector import DetectorRule, phrase_detector, phrases

_ASKS: Final = DetectorRule("asking.credentials", "T13", Severity.HIGH, 0.45, "Asks the user for credentials")
DETECTOR: Final = phrase_detector(
    phrases(
        _ASKS,
        "ASK|REQUEST 4 USER|ROLE 5 CREDENTIALS",
        "ASK|REQUEST 4 CREDENTIALS 4 USER",
        "TELL 3 USER 12 CREDENTIALS",
        "USER 2 MUST 5 CREDENTIALS",
        "~10 GET_FROM USER|ROLE CREDENTIALS",
        "TELL 2 USER 10 CREDENTIALS",
        topics="login auth authenticate unlock register signup connect",
    ),
)
