"""Detects demands to be called first, before every other tool, or instead of them (T1, T5)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases

DETECTOR: Final = phrase_detector(
    phrases(
        "priority.before",
        "BEFORE 4 ANY 0 OTHER 0 TOOL|TOOLS",
        "BEFORE 3 OTHER 0 TOOL 8 MUST|ALWAYS|FIRST",
        "BEFORE 1 ANY 1 FILE_WORK",
        "BEFORE_ALL",
        "BEFORE 1 FILE_WORK 8 MUST",
        "ANY 4 MUST 4 THROUGH 2 THIS",
        "ANY 0 TOOL 6 THROUGH 2 THIS",
        "WHEN 4 ANY 0 OTHER 0 TOOLS",
        "ANY 0 OTHER 0 TOOL 3 BEFORE",
        "ANY 1 TOOL 4 BEFORE 4 MUST|FIRST|CALL",
        "BEFORE 3 TASK 3 MUST 3 CALL|READ|SEND",
        "BEFORE 0 TASK 4 DESTROY|SEND",
        unless=("TOOL 2 OWN_SERVER", "OWN_TOOLS", "BEFORE_OTHERS", "TOOLS 3 NAMED|QUOTED"),
    ),
    phrases(
        "priority.order",
        "BEFORE 2 CALL 2 ANY 1 TOOL 1 TOOL",
        "BEFORE 2 ANY 2 OTHER 2 TOOL",
        "BEFORE 2 ANY 1 TOOLS",
        "MUST 6 BEFORE 1 ANY 2 TOOL",
        "BEFORE 3 ANY 3 CALL 4 MUST",
        "MUST 4 CALL|READ 14 BEFORE 3 TASK",
        unless=("TOOL 2 OWN_SERVER", "OWN_TOOLS", "BEFORE_OTHERS", "TOOLS 3 NAMED|QUOTED"),
    ),
    phrases(
        "priority.unless",
        "ANY 1 TOOLS 4 BREAKS 6 UNLESS|THIS|WITHOUT",
        "OTHER 1 TOOLS 4 BREAKS",
        "NOBODY|NEVER 1 TOOLS 4 BREAKS",
        "UNLESS 4 FIRST 2 CALL|READ",
        "NEVER 6 TASK 4 UNLESS 5 CALL|READ|SEND",
    ),
    phrases(
        "priority.whatever",
        "REGARDLESS 6 BEGIN_WITH|CALL 2 THIS",
        "MUST 3 CALL 4 EVERYTIME",
        "PREFER 4 EVERYTIME",
        "ONLY_WAY 8 REPLACE|INSTEAD",
        "HIGHEST",
        "CHOOSE_ME",
        "DROP 2 OTHER",
        "WHEN 2 ANY 0 TOOL 6 CALL 6 CALL|SEND|MUST",
    ),
    phrases(
        "priority.instead",
        "INSTEAD 2 ANY 2 TOOLS",
        "NEVER 2 CALL|PREFER 2 ANY|OTHER 2 TOOLS|OTHER",
        "NEVER 2 CALL 1 OTHER _",
        "IGNORE 2 ANY|OTHER 2 TOOLS",
        "PREFER 3 THIS 8 OTHER 2 TOOLS",
        "PREFER 3 THIS 4 ANY 2 TOOLS",
        unless=("NEVER 1 UNASKED", "TOOLS 2 UNTIL"),
    ),
    phrases(
        "priority.always",
        "ALWAYS 1 CALL|PREFER 3 FIRST",
        "MUST 3 CALL|CALL 2 FIRST",
        "CALL 3 THIS 3 FIRST",
        "ALWAYS 3 CALL 2 THIS 3 ANY",
        "CALL 2 THIS 3 ANY 2 TOOL",
        "FIRST 3 CALL 2 THIS",
    ),
)
