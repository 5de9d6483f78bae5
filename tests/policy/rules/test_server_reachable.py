"""Without a connection nothing is sent."""

from hypothesis import given

from mcpguard.policy.rules.server_reachable import objection
from mcpguard.policy.situation import Situation
from tests.policy.situations import SITUATIONS


@given(SITUATIONS)
def test_it_objects_exactly_where_there_is_no_connection(situation: Situation) -> None:
    assert (objection(situation) is None) == situation.reachable
