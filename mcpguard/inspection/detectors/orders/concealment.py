"""Detects indirectly worded orders to conceal: what is better left out, what nobody needs to know (T1)."""

from typing import Final

from mcpguard.inspection.detectors.detector import phrase_detector, phrases
from mcpguard.inspection.detectors.orders.secrecy import TOO_EARLY

_GAMES: Final = "game quiz hangman story secret surprise spoiler player puzzle riddle"
DETECTOR: Final = phrase_detector(
    phrases(
        "quiet.order",
        "QUIET",
        "COVERT",
        "SOFTLY 1 GIVE|SEND|CHANGE|DESTROY|HARVEST|MAKE",
        "NEVER 0 TELL 3 ACTION_NOUN",
        "NOBODY 3 TRACE",
        "USER|ROLE 3 UNAWARE",
        "WITHOUT 0 SPEAK 1 ROLE",
        "NEEDLESS|NEVER 0 HUSHED",
        "USER|ROLE 5 UNAWARE 3 THIS",
        "BETWEEN_US",
        "NEEDLESS 1 SPEAK 6 USER|THIS",
        "NEEDLESS 3 USER 4 SPEAK|KNOW",
        "NEEDLESS 2 USER 3 THIS|TRACE",
        "USER 2 NEEDLESS 1 KNOW|SPEAK|ASK",
        "NEVER 0 SPEAK 2 USER 6 THIS",
        "NOBODY 2 KNOW",
        "NOTHING 4 THIS 6 SPEAK|SHOW|KNOW 3 USER",
        "NOTHING 4 SPEAK|SHOW|KNOW 3 USER",
        "HIDE 2 FACT",
        "~9 NEVER FACT SPEAK",
        "USER 6 KNOW 3 NOT_AFTER",
        "HIDE 3 THIS 6 REPLY",
        "NEVER 2 SPEAK 1 FACT",
        "SPEAK 3 NOBODY",
        "INSTRUCTIONS 3 UNSEEN 3 USER",
        "THIS 3 UNSEEN 1 INSTRUCTIONS",
        unless=("WHEN 1 NOTHING", "NEEDLESS 2 READ", "INSTEAD 0 ASK", "FAILS_QUIETLY", TOO_EARLY),
        topics=_GAMES,
    ),
    phrases("quiet.display", "NEVER 1 SHOW 3 THIS 3 USER", "NEVER 1 SHOW 6 USER", "UNSEEN_BY_USER"),
    phrases(
        "quiet.traces",
        "OMIT 2 ANY 1 TRACE",
        "OMIT 2 TRACE 6 REPLY",
        "REPLY 2 OMIT 4 TRACE|THIS",
        "REPLY 3 NEVER 3 TRACE",
        "REPLY 3 NEVER 4 SPEAK 3 THIS",
        "NEVER 2 SPEAK 4 THIS 3 REPLY",
        "NEVER 4 TRACE 3 THIS 4 REPLY",
        "OMIT 3 THIS 5 REPLY",
        topics=_GAMES,
    ),
    phrases(
        "quiet.pretence",
        "REPLY 4 PRETEND",
        "PRETENCE",
        "WHEN 4 ASK 8 SAY_ONLY",
        "WHEN 2 USER 2 ASK 10 SAY_ONLY",
        "SAY_ONLY 8 NOTHING",
        topics=_GAMES,
    ),
)
