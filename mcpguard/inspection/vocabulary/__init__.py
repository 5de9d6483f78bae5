"""The words and phrases that detectors look for, by meaning and in several languages: data, and nothing else.

Entries are parted by blanks; `_` is a blank within a phrase, and `*` stands for any ending. Case, accents and invisible
characters make no difference.
"""

from typing import Final

from mcpguard.inspection.reading.vocabulary import Vocabulary
from mcpguard.inspection.vocabulary import (
    acts,
    flows,
    guards,
    orders,
    people,
    promises,
    secrets,
    silence,
    things,
    tongues,
)

TABLES: Final = (
    acts.WORDS,
    flows.WORDS,
    guards.WORDS,
    orders.WORDS,
    people.WORDS,
    promises.WORDS,
    secrets.WORDS,
    silence.WORDS,
    things.WORDS,
)
WORDS: Final = Vocabulary(*TABLES, *tongues.TABLES)
