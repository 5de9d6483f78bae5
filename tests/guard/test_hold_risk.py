"""The risk of a held call: what makes it high, and the sentence that says so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.capabilities import Effect
from mcpguard.guard.calls.holds.hold_risk import HoldRisk, Precedents, RiskFacts, RiskLevel, risk_of

SEEN = Precedents(allowed=3, own=3)
NEVER = "not allowed in the last 90 days"
ALWAYS = "allowed 3 times in 90 days, always for this caller"
MAYBE = "may contain a secret (jwt)"
FACTS = st.builds(
    RiskFacts,
    st.sampled_from(Effect),
    st.builds(Precedents, st.integers(0, 3), st.integers(0, 3), st.integers(0, 1), st.booleans()),
    st.lists(st.sampled_from(["aws-access-token", "jwt"]), max_size=2).map(tuple),
    st.lists(st.sampled_from(["evil.example", "a@b.example"]), max_size=5).map(tuple),
    st.integers(0, 2),
    st.integers(0, 2),
)


def sentence(risk: HoldRisk) -> str:
    return " · ".join(clause.text.upper() if clause.grave else clause.text for clause in risk.clauses)


@pytest.mark.parametrize(
    ("facts", "level", "says"),
    [
        (RiskFacts(Effect.READ), RiskLevel.LOW, f"read · {NEVER}"),
        (RiskFacts(Effect.WRITE), RiskLevel.MEDIUM, f"write · {NEVER}"),
        (RiskFacts(Effect.DESTRUCTIVE, SEEN), RiskLevel.HIGH, f"DESTRUCTIVE · {ALWAYS}"),
        (
            RiskFacts(Effect.READ, outside=("evil.example",)),
            RiskLevel.HIGH,
            f"read · {NEVER.upper()} · NAMES EVIL.EXAMPLE",
        ),
        (
            RiskFacts(Effect.READ, secrets=("jwt",)),
            RiskLevel.HIGH,
            f"read · {NEVER.upper()} · MAY CONTAIN A SECRET (JWT)",
        ),
        (
            RiskFacts(Effect.WRITE, SEEN, ("jwt",), ("a.example", "b.example", "c.example", "d.example", "e.example")),
            RiskLevel.MEDIUM,
            f"write · {ALWAYS} · names a.example, b.example, c.example and 2 more destinations · {MAYBE}",
        ),
        (
            RiskFacts(Effect.READ, SEEN, denials=1),
            RiskLevel.HIGH,
            f"read · {ALWAYS} · ITS CALLER WAS JUST DENIED CHANGED OR BLOCKED TOOLS ONCE",
        ),
        (RiskFacts(Effect.READ, SEEN, findings=2), RiskLevel.HIGH, f"read · {ALWAYS} · 2 CRITICAL OR HIGH FINDINGS"),
        (
            RiskFacts(Effect.WRITE, Precedents(other_versions=4), outside=("evil.example",)),
            RiskLevel.HIGH,
            "write · NEVER ALLOWED IN THIS VERSION · NAMES EVIL.EXAMPLE",
        ),
        (
            RiskFacts(Effect.READ, Precedents(allowed=1)),
            RiskLevel.LOW,
            "read · allowed once in 90 days, never for this caller",
        ),
        (
            RiskFacts(Effect.READ, Precedents(allowed=49, own=2, more=True)),
            RiskLevel.LOW,
            "read · allowed 49 or more times in 90 days, 2 of them for this caller",
        ),
    ],
)
def test_what_is_known_makes_a_level_and_a_sentence(facts: RiskFacts, level: RiskLevel, says: str) -> None:
    risk = risk_of(facts)
    assert (risk.level, sentence(risk)) == (level, says)


@given(FACTS)
def test_it_is_high_exactly_where_a_clause_says_why(facts: RiskFacts) -> None:
    risk = risk_of(facts)
    reaches = bool(facts.secrets or facts.outside) and not facts.precedents.allowed
    high = facts.effect is Effect.DESTRUCTIVE or reaches or facts.denials > 0 or facts.findings > 0
    assert (risk.level is RiskLevel.HIGH) == high == any(clause.grave for clause in risk.clauses)
    assert high or risk.level is (RiskLevel.LOW if facts.effect is Effect.READ else RiskLevel.MEDIUM)
