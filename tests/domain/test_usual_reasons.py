"""Usual reasons of reviewers: recorded so that they can be read and counted."""

import pytest

from mcpguard.domain.decisions import Answer, Undecidable
from mcpguard.domain.usual_reasons import HeldReason, ReviewReason, UsualReason


@pytest.mark.parametrize(
    ("code", "note", "answer", "written"),
    [
        ("expected", "", Answer.ALLOW, "Expected"),
        ("expected", "the nightly job", Answer.ALLOW, "Expected: the nightly job"),
        ("ticket", "OPS-2291", Answer.ALLOW, "Ticket: OPS-2291"),
        ("injected", "", Answer.DENY, "Looks injected"),
        ("other", "not on a Friday", Answer.DENY, "Other: not on a Friday"),
        ("other", "read it", Answer.ALLOW, "Other: read it"),
        ("", "as it is written", Answer.ALLOW, "as it is written"),
        ("", "", Answer.DENY, ""),
    ],
)
def test_a_usual_reason_stands_before_the_note(code: str, note: str, answer: Answer, written: str) -> None:
    assert HeldReason.as_text(code, note, answer) == written


@pytest.mark.parametrize(
    ("code", "note", "answer", "why"),
    [
        ("other", " ", Answer.DENY, "needs a note"),
        ("ticket", "", Answer.ALLOW, "needs a note"),
        ("injected", "", Answer.ALLOW, "no reason to allow"),
        ("expected", "x", Answer.DENY, "no reason to deny"),
        ("EXPECTED", "x", Answer.ALLOW, "the usual reasons are expected, "),
    ],
)
def test_what_does_not_fit_the_answer_is_refused(code: str, note: str, answer: Answer, why: str) -> None:
    with pytest.raises(Undecidable, match=why):
        HeldReason.as_text(code, note, answer)


@pytest.mark.parametrize(
    ("code", "note", "answer", "written"),
    [
        ("read", "", Answer.APPROVE, "Reviewed in full, no objections"),
        ("injection", "hidden in a comment", Answer.BLOCK, "Prompt injection found: hidden in a comment"),
        ("unneeded", "", Answer.DISABLE, "Not needed here"),
        ("other", "as agreed", Answer.QUARANTINE, "Other: as agreed"),
    ],
)
def test_reviews_have_reasons_of_their_own(code: str, note: str, answer: Answer, written: str) -> None:
    assert ReviewReason.as_text(code, note, answer) == written


@pytest.mark.parametrize(
    ("code", "answer"), [("injection", Answer.APPROVE), ("read", Answer.BLOCK), ("expected", Answer.APPROVE)]
)
def test_a_reason_to_block_is_none_to_approve(code: str, answer: Answer) -> None:
    with pytest.raises(Undecidable):
        ReviewReason.as_text(code, "", answer)


@pytest.mark.parametrize("kind", [HeldReason, ReviewReason])
def test_each_can_be_told_from_the_others_by_its_first_words(kind: type[UsualReason]) -> None:
    texts = [each.text for each in kind]
    assert not [(one, two) for one in texts for two in texts if one != two and f"{two}: ".startswith(f"{one}: ")]
