"""What the server does not offer, and nothing covers, is unknown; of one that is away nobody can tell."""

from hypothesis import given

from mcpguard.domain.reasons import Reason
from mcpguard.policy.rules.capability_known import objection
from mcpguard.policy.situation import Situation
from tests.policy.situations import SITUATIONS


@given(SITUATIONS)
def test_it_lets_through_what_is_offered_or_covered(situation: Situation) -> None:
    found = objection(situation)
    offered = situation.pin is not None and situation.pin.present
    assert (found is None) == (offered or situation.covered)
    if found is not None:
        away = Reason.SERVER_STARTING if situation.starting else Reason.SERVER_UNREACHABLE
        assert found.reason is (Reason.CAPABILITY_UNKNOWN if situation.reachable else away)
