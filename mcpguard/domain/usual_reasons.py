"""The usual reasons of reviewers, so that reasons can be counted.

A reason is recorded as text: that of the usual reason, then a note, if there is one. Its first words name the usual
reason, for a person and for a program.
"""

from enum import StrEnum
from typing import Self

from mcpguard.domain.decisions import WIDENING, Answer, Undecidable


class UsualReason(StrEnum):
    """The code of a usual reason, its text, and whether it is for answers that loosen protection or for the others;
    None: for both.

    `needs_note`: whether it says nothing by itself.
    """

    text: str
    loosens: bool | None
    needs_note: bool

    def __new__(cls, code: str, text: str, loosens: bool | None, needs_note: bool = False) -> Self:
        reason = str.__new__(cls, code)
        reason._value_ = code
        reason.text = text
        reason.loosens = loosens
        reason.needs_note = needs_note
        return reason

    @classmethod
    def as_text(cls, code: str, note: str, answer: Answer) -> str:
        """Return the reason as it is recorded. Without a code it is the note alone. Raises Undecidable."""
        if not code:
            return note
        reasons = {each.value: each for each in cls}
        if (reason := reasons.get(code)) is None:
            raise Undecidable(f"the usual reasons are {', '.join(reasons)}")
        if reason.loosens not in (None, answer in WIDENING):
            raise Undecidable(f"“{reason.text}” is no reason to {answer}; choose another, or answer otherwise")
        if not note.strip():
            if reason.needs_note:
                raise Undecidable(f"“{reason.text}” needs a note")
            return reason.text
        return f"{reason.text}: {note}"


class HeldReason(UsualReason):
    """The usual reasons for answers to held calls."""

    EXPECTED = ("expected", "Expected", True)
    CHECKED = ("checked", "Checked with the owner", True)
    TICKET = ("ticket", "Ticket", True, True)
    UNEXPECTED = ("unexpected", "Not expected", False)
    NO_TICKET = ("no_ticket", "No ticket", False)
    TOO_BROAD = ("too_broad", "Too broad", False)
    INJECTED = ("injected", "Looks injected", False)
    OTHER = ("other", "Other", None, True)


class ReviewReason(UsualReason):
    """The usual reasons for decisions about servers and what they list."""

    READ = ("read", "Reviewed in full, no objections", True)
    NEEDED = ("needed", "Needed; the findings are acceptable", True)
    INJECTION = ("injection", "Prompt injection found", False)
    UNNEEDED = ("unneeded", "Not needed here", False)
    PUBLISHER = ("publisher", "Publisher or source not trusted", False)
    WAITING = ("waiting", "Waiting for the publisher", False)
    OTHER = ("other", "Other", None, True)
