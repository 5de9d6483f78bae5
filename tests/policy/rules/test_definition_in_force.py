"""What was not listed last by the connection that would carry the call is not used."""

from hypothesis import given

from mcpguard.policy.rules.definition_in_force import objection
from mcpguard.policy.situation import Situation
from tests.policy.situations import SITUATIONS


@given(SITUATIONS)
def test_it_objects_exactly_where_the_listing_is_not_in_force(situation: Situation) -> None:
    assert (objection(situation) is None) == situation.in_force
