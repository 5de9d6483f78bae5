"""What was found about the arguments is what the rule says. `tests/policy/arguments` has how it is found."""

from dataclasses import replace

from hypothesis import given

from mcpguard.policy.rules.arguments_schema import objection
from mcpguard.policy.situation import Situation
from tests.policy.situations import FINE, SITUATIONS


@given(SITUATIONS)
def test_it_says_what_was_found(situation: Situation) -> None:
    assert objection(situation) == (situation.arguments.unfit if situation.arguments else None)


def test_without_arguments_there_is_nothing_to_object_to() -> None:
    assert objection(replace(FINE, arguments=None)) is None
