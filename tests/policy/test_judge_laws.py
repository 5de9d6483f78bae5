"""Laws of the judgement as a whole, in any situation whatever."""

from dataclasses import replace

from hypothesis import given

from mcpguard.domain.calls.holds import HoldState
from mcpguard.domain.calls.verdicts import Allow, Deny, Hold
from mcpguard.domain.reasons import Reason
from mcpguard.policy.judge import RULES, judge
from mcpguard.policy.situation import Situation
from tests.policy.situations import FINE, SITUATIONS, Carried


class _Unread:
    """Arguments that nobody may look at."""

    @property
    def too_large(self) -> None:
        raise AssertionError("looked at")

    unfit = secret = too_large


@given(SITUATIONS)
def test_the_first_rule_that_objects_decides_and_every_one_before_it_was_asked(situation: Situation) -> None:
    verdict, rules, detail = judge(situation)
    objections = [(name, rule(situation)) for name, rule in RULES]
    first = next(((at, found) for at, (_, found) in enumerate(objections) if found is not None), None)
    names = tuple(name for name, _ in objections)
    if first is None:
        assert (verdict, rules) == (Allow(), names)
    else:
        at, found = first
        wanted = Hold(found.reason) if found.reason is Reason.HOLD_WAITING else Deny(found.reason)
        assert (verdict, detail) == (wanted, found.detail)
        assert rules == names[: at + 1]


@given(SITUATIONS)
def test_a_call_is_held_only_where_nothing_else_is_wrong_with_it(situation: Situation) -> None:
    if isinstance(judge(situation)[0], Hold):
        assert judge(replace(situation, demand=""))[0] == Allow()
        assert judge(replace(situation, answer=HoldState.ALLOWED))[0] == Allow()
        assert judge(replace(situation, answer=HoldState.DENIED))[0] == Deny(Reason.HOLD_DENIED)


@given(SITUATIONS)
def test_no_answer_of_a_person_lets_anything_pass_that_is_refused_without_a_demand(situation: Situation) -> None:
    without = judge(replace(situation, demand=""))[0]
    if isinstance(without, Deny):
        assert judge(situation)[0] == without


@given(SITUATIONS)
def test_what_is_allowed_is_allowed_by_every_rule_asked_alone(situation: Situation) -> None:
    if judge(situation)[0] == Allow():
        assert [rule(situation) for _, rule in RULES] == [None] * len(RULES)


@given(SITUATIONS)
def test_arguments_are_not_looked_at_before_everything_else_is_well(situation: Situation) -> None:
    """Neither does what a call carries change why it is out of reach, nor does it cost anything there."""
    without = judge(replace(situation, arguments=None, spent=None))
    if isinstance(without[0], Deny):
        assert judge(replace(situation, arguments=_Unread(), spent=None)) == without


def test_a_call_that_carries_what_it_should_is_allowed() -> None:
    assert judge(replace(FINE, arguments=Carried()))[0] == Allow()
