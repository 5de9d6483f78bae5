"""The assigned effect has to be in the scope, whatever is declared; what has none is in nobody's."""

from dataclasses import replace

from hypothesis import given

from mcpguard.policy.rules.scope_effect import objection
from mcpguard.policy.situation import Situation
from tests.policy.situations import SITUATIONS, STATED


@given(SITUATIONS, STATED)
def test_it_goes_by_the_assigned_effect_and_by_nothing_that_is_said(situation: Situation, stated: object) -> None:
    right = situation.effect is not None and situation.effect in situation.caller.scope.effects
    assert (objection(situation) is None) == right
    assert objection(replace(situation, stated=stated)) == objection(situation)  # type: ignore[arg-type]
