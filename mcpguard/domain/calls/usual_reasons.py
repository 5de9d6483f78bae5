"""The usual reasons of reviewers for their answers to held calls, so that reasons can be counted.

A reason is recorded as text: that of the usual reason, then a note, if there is one. Its first words name the usual
reason, for a person and for a program.
"""

from enum import StrEnum
from typing import Final, Self

from mcpguard.domain.decisions import Answer, Undecidable


class UsualReason(StrEnum):
    """The code of a usual reason, its text, and the answer that it is for; None: for both.

    `needs_note`: whether it says nothing by itself."""

    text: str
    answer: Answer | None
    needs_note: bool

    def __new__(cls, code: str, text: str, answer: Answer | None, needs_note: bool = False) -> Self:
        reason = str.__new__(cls, code)
        reason._value_ = code
        reason.text = text
        reason.answer = answer
        reason.needs_note = needs_note
        return reason

    EXPECTED = ("expected", "Expected", Answer.ALLOW)
    CHECKED = ("checked", "Checked with the owner", Answer.ALLOW)
    TICKET = ("ticket", "Ticket", Answer.ALLOW, True)
    UNEXPECTED = ("unexpected", "Not expected", Answer.DENY)
    NO_TICKET = ("no_ticket", "No ticket", Answer.DENY)
    TOO_BROAD = ("too_broad", "Too broad", Answer.DENY)
    INJECTED = ("injected", "Looks injected", Answer.DENY)
    OTHER = ("other", "Other", None, True)


_BY_CODE: Final = {each.value: each for each in UsualReason}


def written_reason(code: str, note: str, answer: Answer) -> str:
    """Return the reason as it is recorded. Without a code it is the note alone. Raises Undecidable."""
    if not code:
        return note
    if (reason := _BY_CODE.get(code)) is None:
        raise Undecidable(f"the usual reasons are {', '.join(_BY_CODE)}")
    if reason.answer not in (None, answer):
        opposite = "allow" if answer is Answer.DENY else "deny"
        raise Undecidable(f"“{reason.text}” is a reason to {opposite} a call; choose another, or answer otherwise")
    if not note.strip():
        if reason.needs_note:
            raise Undecidable(f"“{reason.text}” needs a note")
        return reason.text
    return f"{reason.text}: {note}"
