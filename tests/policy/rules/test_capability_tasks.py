"""A tool that can only be called as a task is not called."""

from hypothesis import given

from mcpguard.domain.reasons import Reason
from mcpguard.policy.rules.capability_tasks import objection
from mcpguard.policy.situation import Situation
from tests.policy.situations import SITUATIONS


@given(SITUATIONS)
def test_it_objects_exactly_where_the_tool_needs_tasks(situation: Situation) -> None:
    found = objection(situation)
    assert (found is not None) == situation.needs_tasks
    assert found is None or found.reason is Reason.CAPABILITY_TASKS
