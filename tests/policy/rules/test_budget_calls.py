"""A budget that is used up is named. `tests/policy/test_budgets.py` has how calls are counted."""

from hypothesis import given

from mcpguard.domain.reasons import Reason
from mcpguard.policy.rules.budget_calls import objection
from mcpguard.policy.situation import Situation
from tests.policy.situations import SITUATIONS


@given(SITUATIONS)
def test_it_objects_exactly_where_a_budget_is_used_up(situation: Situation) -> None:
    found = objection(situation)
    assert (found is None) == (situation.spent is None)
    if found is not None:
        assert (found.reason, found.detail.budget) == (Reason.BUDGET_CALLS, situation.spent)
