"""Detects tools that make the model ask the user for credentials: passwords, codes, card numbers (T13, T20)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases

DETECTOR: Final = phrase_detector(
    phrases(
        "asking.credentials",
        "ASK|REQUEST 4 USER|ROLE 5 CREDENTIALS",
        "ASK|REQUEST 4 CREDENTIALS 4 USER",
        "TELL 3 USER 12 CREDENTIALS",
        "USER 2 MUST 5 CREDENTIALS",
        "~10 GET_FROM USER|ROLE CREDENTIALS",
        "TELL 2 USER 10 CREDENTIALS",
        topics="password passwords credential credentials login auth authenticate unlock register signup connect",
    ),
)
