"""Tools that have the model ask a person for what opens doors: passwords, codes, card numbers (T13, T20)."""

from typing import Final

from mcpguard.domain.findings import Severity
from mcpguard.inspection.detectors.detector import DetectorRule, phrases, saying

_ASKS: Final = DetectorRule(
    "asking.credentials", "T13", Severity.HIGH, 0.45, "It has the model ask the person for credentials"
)
DETECTOR: Final = saying(
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
