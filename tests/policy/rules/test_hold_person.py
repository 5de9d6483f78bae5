"""Whether a person has to allow the call, and what their answer is worth. `test_demands` has which calls that is."""

from dataclasses import replace

import pytest

from mcpguard.domain.calls.holds import HoldState
from mcpguard.domain.reasons import Reason
from mcpguard.policy.rules.hold_person import objection
from tests.policy.situations import FINE


@pytest.mark.parametrize("answer", [None, HoldState.WAITING, HoldState.ALLOWED, HoldState.DENIED])
def test_where_no_setting_wants_a_person_no_answer_matters(answer: HoldState | None) -> None:
    assert objection(replace(FINE, answer=answer, crowded=True)) is None


@pytest.mark.parametrize(
    ("answer", "crowded", "reason"),
    [
        (None, False, Reason.HOLD_WAITING),
        (None, True, Reason.HOLD_CROWDED),
        (HoldState.WAITING, True, Reason.HOLD_WAITING),
        (HoldState.DENIED, False, Reason.HOLD_DENIED),
        (HoldState.ALLOWED, True, None),
    ],
)
def test_a_call_waits_until_somebody_has_answered(
    answer: HoldState | None, crowded: bool, reason: Reason | None
) -> None:
    found = objection(replace(FINE, demand="destructive", answer=answer, crowded=crowded))
    assert (found.reason if found else None) == reason


def test_whoever_was_refused_is_told_what_the_person_says() -> None:
    found = objection(replace(FINE, demand="destructive", answer=HoldState.DENIED, person="not on Fridays"))
    assert found is not None
    assert found.detail.sentence == 'Reviewer: "not on Fridays".'
