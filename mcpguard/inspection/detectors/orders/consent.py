"""Detects orders to act without asking the user (T1)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases

DETECTOR: Final = phrase_detector(
    phrases(
        "consent.skipped",
        "NEVER 1 ASK 2 USER",
        "NEVER 1 ASK 3 ASK",
        "NEVER 1 ASK _",
        "NEVER 2 USER 1 ASK",
        "IGNORE 3 ASK",
    ),
    phrases(
        "consent.user",
        "CALL|SEND|COPY|DESTROY|CHANGE 8 WITHOUT 1 ASK",
        "NEVER 0 ASK 1 USER",
        "ALWAYS 10 WITHOUT 0 ASK",
        "~8 PAY WITHOUT ASK",
    ),
    phrases("consent.none", "NO_CONSENT"),
    phrases(
        "consent.behind",
        "NEVER 2 USER 1 KNOW",
    ),
)
