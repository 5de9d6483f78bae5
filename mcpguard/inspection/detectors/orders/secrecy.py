"""Detects orders to keep something secret from the user, which an honest description never needs (T1)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases

TOO_EARLY: Final = "USER 8 FINISHED 2 BEFORE|UNTIL"
"""How a text says that success must not be reported before it is there."""
DETECTOR: Final = phrase_detector(
    phrases(
        "secrecy.order",
        "NEVER 1 TELL 2 THIS 4 USER",
        "NEVER 1 TELL 2 USER 3 THIS",
        "NEVER 2 TELL 3 USER _",
        "NEVER 1 TELL 3 THIS _",
        "NEVER 1 TELL 3 SECRET_FILE|SECRETS 4 USER",
        "USER 2 NEVER 3 KNOW 3 THIS",
        "HIDE 4 THIS 6 USER",
        "KEPT 2 THIS 2 UNSEEN 2 USER",
        "USER 4 TELL 2 NOT_AFTER _",
        "TELL 3 USER 3 NOT_AFTER _",
        "TELL 5 USER 1 NOT_AFTER 2 THIS",
        "SECRETLY 3 SEND|CARRY 6 SECRETS|CONVERSATION|SECRET_FILE|OUTSIDE",
        unless=("WITHOUT 0 TELL 0 THEM", "TELL 1 UNLESS 2 USER", TOO_EARLY),
    ),
    phrases(
        "secrecy.silence",
        "NEVER 2 TELL 5 USER",
        "NEVER 1 TELL 3 THIS",
        "USER 3 NEVER 3 KNOW",
        "USER 3 NEVER 4 TELL",
        "TELL 5 USER 2 NOT_AFTER",
        "HIDE 5 USER",
        "KEPT 4 UNSEEN 4 USER",
        "USER 3 TELL 2 NOT_AFTER",
        "NEVER 2 USER 3 KNOW|TELL",
        "THIS 2 NEVER 2 KNOW 6 USER",
        "WHEN 2 ASK 8 LIE",
        unless=("OTHER_PARTIES", "WITHOUT 0 TELL 0 THEM", "HIDE 0 THEM", "TELL 1 UNLESS 2 USER", TOO_EARLY),
    ),
    phrases(
        "secrecy.stealth",
        "SECRETLY 3 SEND|CARRY|DESTROY|READ|TAMPER",
        "SEND 4 SECRETLY",
        "SECRETLY 4 CALL 4 TOOL|THIS|NAMED",
        "DO 1 SECRETLY",
        "SECRETLY 3 HARVEST|MIRROR|COPY",
        "SECRETLY 4 TALK|MESSAGES",
        unless=("FAILS_QUIETLY",),
    ),
)
