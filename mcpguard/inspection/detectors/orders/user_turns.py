"""Detects text that poses as the user, who gives the model a task of its own (T1)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases

DETECTOR: Final = phrase_detector(
    phrases(
        "user.orders",
        "USER_SPEAKS 30 MUST|FIRST|BEFORE|SEND|READ|CALL|CHANGE|DESTROY|CARRY",
        "BEFORE 6 GIVEN_TASK",
        "GIVEN_TASK 14 FIRST",
        "FIRST 14 GIVEN_TASK",
        "WHEN|ALSO 6 SOLVE 3 GIVEN_TASK",
        "USER_SPEAKS 40 GIVEN_TASK",
        unless=("AWAITED 2 USER_SPEAKS",),
    ),
    phrases("user.speaks", "USER_SPEAKS", "GIVEN_TASK", unless=("AWAITED 2 USER_SPEAKS",)),
    phrases(
        "user.task",
        "BEFORE 4 SOLVE 4 ORIGINAL_TASK|GIVEN_TASK",
        "SOLVE 3 ORIGINAL_TASK 6 WHEN|ALSO|UNLESS",
        "IGNORE|DROP 4 ORIGINAL_TASK",
        "INSTEAD 4 ORIGINAL_TASK",
        "FIRST 12 SOLVE 3 ORIGINAL_TASK",
        "WHEN 3 SOLVE 3 ORIGINAL_TASK",
    ),
)
