"""Budgets: never more than they say, never less than they say, and nothing is kept of who is gone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.policy.budgets import AT_ONCE, IN_A_MINUTE, OF_ONE, BudgetLimits, BudgetPlace, CallBudgets

ONE, OTHER = Caller("one", "one"), Caller("other", "other")
ECHO, ADD = (Capability("web", CapabilityKind.TOOL, name) for name in ("echo", "add"))
STEPS = st.lists(
    st.tuples(
        st.floats(0, 40, allow_nan=False),
        st.sampled_from([ONE, OTHER]),
        st.sampled_from([ECHO, ADD]),
        st.sampled_from(["stay", "end", "unsent"]),
    ),
    max_size=60,
)


class Budgets(CallBudgets):
    """Budgets with a clock that stands where it is set."""

    def __init__(self, most: BudgetLimits) -> None:
        super().__init__(most, lambda: self.now)
        self.now = 0.0

    def exhausted_at(self, now: float, caller: Caller = ONE, capability: Capability = ECHO) -> str | None:
        self.now = now
        return self.exhausted_budget(caller, capability)

    def greeted(self, now: float) -> int:
        self.now = now
        return self.count_handshake(ONE)


def taken(budgets: Budgets, now: float, caller: Caller = ONE, capability: Capability = ECHO) -> BudgetPlace | None:
    fits = budgets.exhausted_at(now, caller, capability) is None
    return budgets.take(caller, capability) if fits else None


@given(STEPS, st.integers(1, 6), st.integers(1, 4), st.integers(1, 5))
def test_in_no_60_seconds_is_there_more_than_the_budget(
    steps: list[tuple[float, Caller, Capability, str]], minute: int, each: int, once: int
) -> None:
    budgets, now = Budgets(BudgetLimits(minute, each, once)), 0.0
    calls: list[tuple[float, Caller, Capability]] = []
    open_: dict[str, int] = {}
    for pause, caller, capability, what in steps:
        now += pause
        recent = [call for call in calls if now - call[0] < 60 and call[1] is caller]
        same = [call for call in recent if call[2] is capability]
        place = taken(budgets, now, caller, capability)
        if place is None:
            still = [call for call in calls if now - call[0] < 62 and call[1] is caller]
            full = len(still) >= minute or sum(call[2] is capability for call in still) >= each
            assert full or open_.get(caller.id, 0) >= once, "it was refused although there was a place"
            continue
        assert len(recent) < minute
        assert len(same) < each
        assert open_.get(caller.id, 0) < once
        if what == "unsent":
            place.take_off()
        else:
            calls.append((now, caller, capability))
        if what == "stay":
            open_[caller.id] = open_.get(caller.id, 0) + 1
        else:
            place.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("most", "spent"),
    [(BudgetLimits(in_a_minute=3), IN_A_MINUTE), (BudgetLimits(of_one=3), OF_ONE), (BudgetLimits(at_once=3), AT_ONCE)],
)
def test_exactly_so_many_and_which_it_was(most: BudgetLimits, spent: str) -> None:
    budgets = Budgets(most)
    assert all(taken(budgets, 0) for _ in range(3))
    assert budgets.exhausted_at(0, ONE, ECHO) == spent
    assert budgets.exhausted_at(0, OTHER, ECHO) is None, "another caller has its own"
    assert (budgets.exhausted_at(0, ONE, ADD) is None) == (spent == OF_ONE)


def test_a_minute_later_there_are_places_again_and_nothing_is_remembered() -> None:
    budgets = Budgets(BudgetLimits(2, 2, 2))
    places = [taken(budgets, 0.5) for _ in range(2)]
    for place in places:
        assert place is not None
        place.__exit__(None, None, None)
    assert budgets.exhausted_at(60, ONE, ECHO) == IN_A_MINUTE
    assert budgets.exhausted_at(61.5, ONE, ECHO) is None
    assert taken(budgets, 200, OTHER) is not None
    assert budgets.size == 3, "only what the other uses"


def test_however_many_callers_come_and_go_only_those_of_the_last_minutes_are_remembered() -> None:
    budgets = Budgets(BudgetLimits(2, 2, 2))
    for number in range(5000):
        place = taken(budgets, number, Caller(f"caller-{number}", ""))
        assert place is not None
        place.__exit__(None, None, None)
    assert budgets.size <= 4 * 62


def test_a_place_is_given_back_once_and_a_call_taken_off_once() -> None:
    budgets = Budgets(BudgetLimits(2, 2, 2))
    first, second = taken(budgets, 0), taken(budgets, 0)
    assert first is not None
    assert second is not None
    first.take_off()
    first.take_off()
    first.__exit__(None, None, None)
    first.__exit__(None, None, None)
    assert taken(budgets, 0) is not None
    assert budgets.exhausted_at(0, ONE, ECHO) == AT_ONCE


def test_what_is_taken_off_long_after_takes_nothing_from_others() -> None:
    budgets = Budgets(BudgetLimits(in_a_minute=1))
    first = taken(budgets, 0)
    assert first is not None
    assert taken(budgets, 100) is not None
    first.take_off()
    assert budgets.exhausted_at(100, ONE, ECHO) == IN_A_MINUTE


def test_without_budgets_nothing_is_counted() -> None:
    budgets = Budgets(BudgetLimits())
    assert all(taken(budgets, 0) for _ in range(10_000))
    assert budgets.size == 0


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=30), st.integers(1, 4))
def test_a_handshake_counts_and_has_room_when_it_was_said(steps: list[tuple[int, bool]], minute: int) -> None:
    budgets, now, counted = Budgets(BudgetLimits(minute)), 0, list[int]()
    for pause, sent in steps:
        now += pause
        if (place := taken(budgets, now)) is not None:
            if sent:
                counted.append(now)
            else:
                place.take_off()
        if wait := budgets.greeted(now):
            assert budgets.greeted(now + wait - 1) > 0, "not a second before"
            now += wait
            assert budgets.greeted(now) == 0
        counted.append(now)
        assert sum(now - each < 60 for each in counted) <= minute
