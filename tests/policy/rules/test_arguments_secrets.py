"""A secret is refused by the name of the rule that found it. `tests/policy/secrets` has how it is found."""

from dataclasses import replace

from mcpguard.domain.reasons import Reason
from mcpguard.policy.rules.arguments_secrets import objection
from tests.policy.situations import FINE, Carried


def test_it_names_the_rule() -> None:
    found = objection(replace(FINE, arguments=Carried(None, None, "github-pat")))
    assert found is not None
    assert (found.reason, found.detail.fields) == (Reason.ARGUMENTS_SECRET, {"secret": "github-pat"})


def test_it_objects_to_nothing_else() -> None:
    assert objection(replace(FINE, arguments=Carried())) is None
    assert objection(FINE) is None
