"""What a reviewer is advised, from findings alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.findings import Evidence, Finding, Severity
from mcpguard.guard.servers.review_advice import Recommendation, advise
from mcpguard.inspection.rules.rule_table import RULES

NOWHERE = Evidence("/description", 0, 1)
FIRST: CapabilityKey = (CapabilityKind.TOOL, "first")
SECOND: CapabilityKey = (CapabilityKind.TOOL, "second")
LEVELS = tuple(Severity)


def found(rule: str, severity: Severity, *, hard: bool = False) -> Finding:
    return Finding(rule, "T1", severity, 0.5, hard, "A title", NOWHERE)


CRITICAL = found("secrecy.order", Severity.CRITICAL)
OF_ANOTHER_KIND = found("override.instructions", Severity.CRITICAL)
FINDINGS = st.lists(
    st.tuples(
        st.builds(found, st.sampled_from(sorted(RULES)), st.sampled_from(LEVELS), hard=st.booleans()),
        st.sampled_from([None, FIRST, SECOND]),
    ),
    max_size=8,
)


@pytest.mark.parametrize(
    ("findings", "recommendation"),
    [
        ([], Recommendation.APPROVE),
        ([(found("pressure.threat", Severity.LOW), FIRST)], Recommendation.APPROVE),
        ([(found("handing.kept", Severity.MEDIUM), FIRST)], Recommendation.APPROVE_REST),
        ([(found("handing.others", Severity.HIGH), FIRST)], Recommendation.APPROVE_REST),
        ([(CRITICAL, FIRST)], Recommendation.KEEP),
        ([(CRITICAL, FIRST), (CRITICAL, SECOND)], Recommendation.KEEP),
        ([(CRITICAL, FIRST), (OF_ANOTHER_KIND, FIRST)], Recommendation.BLOCK),
        ([(found("mixed.word", Severity.LOW, hard=True), FIRST)], Recommendation.KEEP),
        ([(found("launch.shell", Severity.HIGH), None)], Recommendation.APPROVE_REST),
        ([(found("gone.rule", Severity.CRITICAL), FIRST), (CRITICAL, FIRST)], Recommendation.BLOCK),
    ],
)
def test_the_worst_findings_and_their_kinds_decide(
    findings: list[tuple[Finding, CapabilityKey | None]], recommendation: Recommendation
) -> None:
    assert advise(findings, inspected=True).recommendation is recommendation


@given(FINDINGS)
def test_what_was_not_inspected_is_never_advised_to_be_approved(
    findings: list[tuple[Finding, CapabilityKey | None]],
) -> None:
    advised = advise(findings, inspected=False).recommendation
    assert advised not in (Recommendation.APPROVE, Recommendation.APPROVE_REST)


@given(FINDINGS)
def test_one_more_finding_never_makes_the_advice_bolder(findings: list[tuple[Finding, CapabilityKey | None]]) -> None:
    careful = (Recommendation.APPROVE, Recommendation.APPROVE_REST, Recommendation.KEEP, Recommendation.BLOCK)
    before = advise(findings[1:], inspected=True).recommendation
    assert careful.index(advise(findings, inspected=True).recommendation) >= careful.index(before)


@given(FINDINGS)
def test_each_finding_is_counted_and_named_by_its_kind(findings: list[tuple[Finding, CapabilityKey | None]]) -> None:
    advice = advise(findings, inspected=True)
    assert sum(number for _, number in advice.counts) == len(findings)
    assert {key for kind in advice.kinds for key in kind.parts} == {key for _, key in findings}
    worst = [LEVELS.index(kind.worst) for kind in advice.kinds]
    assert worst == sorted(worst, reverse=True)
    assert advice.worst == max((each.severity for each, _ in findings), key=LEVELS.index, default=None)


def test_the_capabilities_with_the_worst_findings_are_counted_once() -> None:
    findings = [(CRITICAL, FIRST), (OF_ANOTHER_KIND, FIRST), (found("handing.kept", Severity.MEDIUM), SECOND)]
    assert advise(findings, inspected=True).worst_in == 1
