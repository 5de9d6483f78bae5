"""Detects orders to ignore earlier instructions, to play another role, or to reveal the system prompt (T1)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases
from mcpguard.inspection.detectors.orders.data_requests import CHATS

_ABOUT: Final = "injection injections jailbreak jailbreaks redteam eval evaluate corpus moderate guardrail dataset"
_MEMORY: Final = (
    "memory memories remember rules instructions settings config preference preferences agents claude cursor copilot"
)
_CHOICES: Final = "switch set select use activate choose change default defaults session login connect"
"""What a tool does that chooses what later calls are about."""
DETECTOR: Final = phrase_detector(
    phrases(
        "override.instructions",
        "IGNORE 2 PREVIOUS 3 INSTRUCTIONS",
        "IGNORE 1 INSTRUCTIONS 4 PREVIOUS|ABOVE",
        "IGNORE 1 ABOVE",
        "IGNORE 2 PREVIOUS 1 PREVIOUS _",
        "IGNORE 4 SYSTEM_PROMPT",
        "NEVER 2 FOLLOW 3 PREVIOUS 2 INSTRUCTIONS",
        "PREVIOUS 2 INSTRUCTIONS 5 IGNORE",
        "PREVIOUS 2 INSTRUCTIONS 4 NEVER 3 FOLLOW|CALL",
        "INSTRUCTIONS 2 INSTEAD 6 PREVIOUS 3 TELL",
        "PREVIOUS 1 GUIDANCE 3 VOID",
        "IGNORE 1 WHAT_TOLD",
        "DROPS 4 GIVEN_BEFORE",
        unless=("INSTRUCTIONS 3 IN_WHAT_IT_READS",),
        topics=_ABOUT,
    ),
    phrases(
        "override.request",
        "IGNORE 2 USER 4 TOOL|INSTRUCTIONS|CONVERSATION",
        "IGNORE 4 USER 2 ASK",
        "IGNORE 2 CONVERSATION",
        "REGARDLESS 3 USER 3 ASK|TELL|TOOL|CONVERSATION",
        "OUTRANKS 2 USER",
        "FOLLOW 4 TO_THE_LETTER",
        "TYPED_BY 6 IGNORE",
    ),
    phrases("override.task", "NEW_TASK"),
    phrases("override.persona", "PERSONA"),
    phrases("override.lasting", "FROM_NOW_ON", topics=_CHOICES),
    phrases(
        "override.stored",
        "STORE 8 LASTING_MEMORY",
        "STORE 12 RULE_FILES",
        "RULE_FILES 8 STORE",
        topics=_MEMORY,
    ),
    phrases(
        "override.prompt",
        "TELL|SHOW|SEND|ASIDE 3 SYSTEM_PROMPT",
        "CARRY 2 PREVIOUS 1 SYSTEM_PROMPT",
        "SYSTEM_PROMPT 5 OUTSIDE|PARAMETER|EMAIL",
        topics=CHATS,
    ),
    phrases(
        "override.obey",
        "FOLLOW 2 ANY 3 INSTRUCTIONS 4 FOUND",
        "FOLLOW 4 INSTRUCTIONS 3 FOUND 4 RESULTS",
        "RESULTS 3 FOUND 2 INSTRUCTIONS 14 FOLLOW",
        "RESULTS 3 FOUND 4 COMMAND 14 MUST 2 CALL",
        "DECODE 5 FOLLOW",
        "MODEL 2 MUST 1 FOLLOW 3 INSTRUCTIONS",
        "DECODE 8 INSTRUCTIONS",
    ),
)
