"""What a person blocked is refused whatever covers it; what has a pin is used only as it was approved."""

from hypothesis import given

from mcpguard.policy.rules.capability_standing import objection
from mcpguard.policy.situation import Situation
from tests.policy.situations import SITUATIONS


@given(SITUATIONS)
def test_it_lets_through_exactly_what_is_approved_as_it_is_and_not_blocked(situation: Situation) -> None:
    approved = situation.covered or situation.pin is None or situation.pin.callable
    assert (objection(situation) is None) == (approved and not situation.blocked)
