"""The choice of a usual reason in a form, which a note may follow."""

from mcpguard.domain.decisions import Answer
from mcpguard.domain.usual_reasons import ReviewReason, UsualReason
from mcpguard.web.forms import SentForm

ReasonGroups = list[tuple[str, list[tuple[str, str]]]]


def reason_groups(kind: type[UsualReason], loosening: str, other: str) -> ReasonGroups:
    """Return the usual reasons of a kind as groups of codes and labels. A group without a title is left out."""
    titles = {False: other, True: loosening, None: "Either"}
    return [
        (title, [(each.value, _label(each)) for each in kind if each.loosens is loosens])
        for loosens, title in titles.items()
        if title
    ]


def review_reasons() -> ReasonGroups:
    """Return the usual reasons for decisions about servers and what they list."""
    return reason_groups(ReviewReason, "To approve", "Against it")


def reason_in(given: SentForm, kind: type[UsualReason], answer: Answer) -> str:
    """Return the reason that a form gives as it is recorded. Raises Undecidable."""
    return kind.as_text(given.one("reason"), given.one("why").strip(), answer)


def _label(reason: UsualReason) -> str:
    return f"{reason.text}, see note" if reason.needs_note else reason.text
