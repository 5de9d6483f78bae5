"""Detects orders to act without asking the user (T1)."""

from typing import Final

from mcpguard.domain.findings import Severity
from mcpguard.inspection.detectors.detector import DetectorRule, phrase_detector, phrases

_ASKS_NOT: Final = DetectorRule(
    "consent.skipped", "T1", Severity.MEDIUM, 0.35, "Tells the model not to ask for consent"
)
_USER: Final = DetectorRule(
    "consent.user", "T1", Severity.MEDIUM, 0.3, "Tells the model to act without asking the user"
)
_NONE: Final = DetectorRule("consent.none", "T1", Severity.MEDIUM, 0.45, "Mentions acting without consent")
_BEHIND: Final = DetectorRule(
    "consent.behind", "T1", Severity.HIGH, 0.7, "Tells the model to act behind the user's back"
)
DETECTOR: Final = phrase_detector(
    phrases(
        _ASKS_NOT,
        "NEVER 1 ASK 2 USER",
        "NEVER 1 ASK 3 ASK",
        "NEVER 1 ASK _",
        "NEVER 2 USER 1 ASK",
        "IGNORE 3 ASK",
    ),
    phrases(
        _USER,
        "CALL|SEND|COPY|DESTROY|CHANGE 8 WITHOUT 1 ASK",
        "NEVER 0 ASK 1 USER",
        "ALWAYS 10 WITHOUT 0 ASK",
        "~8 PAY WITHOUT ASK",
    ),
    phrases(_NONE, "NO_CONSENT"),
    phrases(
        _BEHIND,
        "NEVER 2 USER 1 KNOW",
    ),
)
