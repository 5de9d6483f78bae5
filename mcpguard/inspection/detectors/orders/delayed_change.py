"""Detects text that mentions its own review, or announces different behaviour after it (T8)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases

DETECTOR: Final = phrase_detector(
    phrases(
        "delayed.review",
        "UNDER_REVIEW 12 CALL|SEND|TURN|TAMPER|SHELL|DESTROY|CARRY",
        "TURN|TAMPER|SEND|SHELL 10 UNDER_REVIEW",
    ),
)
