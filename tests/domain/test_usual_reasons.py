"""Usual reasons for answers to held calls: recorded so that they can be read and counted."""

import pytest

from mcpguard.domain.calls.usual_reasons import UsualReason, written_reason
from mcpguard.domain.decisions import Answer, Undecidable


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
    assert written_reason(code, note, answer) == written


@pytest.mark.parametrize(
    ("code", "note", "answer", "why"),
    [
        ("other", " ", Answer.DENY, "needs a note"),
        ("ticket", "", Answer.ALLOW, "needs a note"),
        ("injected", "", Answer.ALLOW, "a reason to deny"),
        ("expected", "x", Answer.DENY, "a reason to allow"),
        ("EXPECTED", "x", Answer.ALLOW, "the usual reasons are expected, "),
    ],
)
def test_what_does_not_fit_the_answer_is_refused(code: str, note: str, answer: Answer, why: str) -> None:
    with pytest.raises(Undecidable, match=why):
        written_reason(code, note, answer)


def test_each_can_be_told_from_the_others_by_its_first_words() -> None:
    texts = [each.text for each in UsualReason]
    assert not [(one, two) for one in texts for two in texts if one != two and f"{two}: ".startswith(f"{one}: ")]
