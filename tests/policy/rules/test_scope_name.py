"""Out of reach is decided by names alone."""

from dataclasses import replace

from hypothesis import given

from mcpguard.domain.reasons import Reason
from mcpguard.policy.rules.scope_name import objection
from mcpguard.policy.scopes import is_in_scope
from mcpguard.policy.situation import Situation
from tests.policy.situations import FINE, SITUATIONS


@given(SITUATIONS)
def test_it_objects_exactly_to_names_out_of_scope_and_says_that_there_is_no_such_thing(situation: Situation) -> None:
    found = objection(situation)
    assert (found is None) == is_in_scope(situation.caller.scope, situation.capability)
    if found is not None:
        assert (found.reason, found.detail.fields) == (Reason.CAPABILITY_UNKNOWN, {})


@given(SITUATIONS)
def test_nothing_but_the_names_changes_its_answer(situation: Situation) -> None:
    alone = replace(FINE, caller=situation.caller, capability=situation.capability)
    assert objection(situation) == objection(alone)
