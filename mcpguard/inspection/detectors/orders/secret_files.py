"""Detects orders to read or pass on keys, credentials, or the files that contain them (T1, T13)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases
from mcpguard.inspection.detectors.orders.data_requests import VAULTS

_LEFT_ALONE: Final = ("WITHOUT 0 SECRET_FILE|KEY_FILES", "SECRET_FILE|KEY_FILES 4 NEVER 1 READ|SEND|CARRY")
"""How a text says that such files are not sent, or cannot be read."""
DETECTOR: Final = phrase_detector(
    phrases(
        "sensitive.pass",
        "READ 6 SECRET_FILE|KEY_FILES 14 SEND|CARRY",
        "SEND|CARRY 6 SECRET_FILE|KEY_FILES 6 PARAMETER|OUTSIDE|URL|EMAIL|ASIDE|TOOL|THIS|USER",
        "READ 6 SECRET_FILE|KEY_FILES 6 ASIDE|PARAMETER",
        "SEND 5 SECRETS 8 OUTSIDE|URL|EMAIL",
        "CARRY 5 SECRETS 8 PARAMETER|ASIDE|OUTSIDE",
        "SECRETS 2 SEND 4 OUTSIDE|URL|EMAIL",
        "READ 4 SECRETS 8 SEND",
        "SEND 8 SECRET_FILE|KEY_FILES",
        unless=("SECRETS 0 PARAMETER", *_LEFT_ALONE),
        topics="form login fill signin",
    ),
    phrases(
        "sensitive.read",
        "READ|CARRY|CALL 6 SECRET_FILE|KEY_FILES",
        "GIVE 6 SECRET_FILE",
        "SECRET_FILE|KEY_FILES 5 READ|SEND|CARRY",
        "MUST 10 SECRET_FILE|KEY_FILES",
        "RESULTS 5 SECRET_FILE|KEY_FILES",
        unless=_LEFT_ALONE,
        topics=VAULTS,
    ),
    phrases("sensitive.path", "SECRET_FILE|KEY_FILES"),
    phrases(
        "sensitive.secrets",
        "SEND|CARRY 3 ANY|USER 3 SECRETS",
        "READ 1 ANY|USER 3 SECRETS 12 SEND|CARRY|PARAMETER",
        "SECRETS 4 USER|ANY 12 SEND",
        topics=VAULTS,
    ),
)
