"""Reasons that a reviewer may choose instead of typing one.

Rules kept here:
1. A chosen reason is recorded in the same words by everybody, so that decisions can be counted by it. A note may
   follow.
2. "Other" says nothing by itself: it needs a note.
"""

from collections.abc import Mapping
from typing import Final

from mcpguard.web.forms import SentForm

OTHER: Final = "other"
NOTE_NEEDED: Final = "Other, see note"
REVIEW_REASONS: Final[Mapping[str, str]] = {
    "read": "Read in full, nothing objectionable",
    "needed": "Needed; the findings are acceptable",
    "injection": "Prompt injection found",
    "unneeded": "Not needed here",
    "maker": "Maker or source not trusted",
    "waiting": "Waiting for an answer of the maker",
    OTHER: NOTE_NEEDED,
}
"""For decisions about servers and what they list, by the codes that forms send."""


def reason_in(given: SentForm, presets: Mapping[str, str]) -> str:
    """Return the reason that a form gives: the chosen one, the note, or both. "" if it gives none."""
    code, note = given.one("preset"), given.one("why").strip()
    chosen = presets.get(code, "") if code != OTHER else ""
    return f"{chosen}: {note}" if chosen and note else chosen or note
