"""Only an approved server that is switched on is used."""

from hypothesis import given

from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.policy.rules.server_standing import objection
from mcpguard.policy.situation import Situation
from tests.policy.situations import SITUATIONS


@given(SITUATIONS)
def test_it_lets_through_exactly_what_is_approved_and_switched_on(situation: Situation) -> None:
    right = situation.standing is UpstreamStanding.APPROVED and situation.enabled
    assert (objection(situation) is None) == right
