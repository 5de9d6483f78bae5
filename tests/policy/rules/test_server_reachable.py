"""Without a connection nothing is sent. Whether it is the first one that is still to come is said."""

from hypothesis import given

from mcpguard.domain.reasons import Reason
from mcpguard.policy.rules.server_reachable import objection
from mcpguard.policy.situation import Situation
from tests.policy.situations import SITUATIONS


@given(SITUATIONS)
def test_it_objects_exactly_where_there_is_no_connection(situation: Situation) -> None:
    found = objection(situation)
    assert (found is None) == situation.reachable
    if found is not None:
        assert found.reason is (Reason.SERVER_STARTING if situation.starting else Reason.SERVER_UNREACHABLE)
