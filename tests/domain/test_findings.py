"""Which findings a person has to have read before what they are in can be approved."""

import pytest

from mcpguard.domain.findings import Evidence, Finding, InspectionFindings, Severity

GRAVE = {Severity.HIGH, Severity.CRITICAL}


@pytest.mark.parametrize("severity", Severity)
@pytest.mark.parametrize("hard", [True, False])
def test_what_is_hard_is_grave_however_severe_it_is(severity: Severity, *, hard: bool) -> None:
    found = Finding("a.rule", "T1", severity, 0.1, hard, "It is a test", Evidence("", 0, 0))
    assert found.grave is (hard or severity in GRAVE)
    assert InspectionFindings((found,), 0).grave == (frozenset({"a.rule"}) if found.grave else frozenset())
