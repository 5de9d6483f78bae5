"""Allowances come back as they were put there, and are used up call by call, on both databases."""

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete

from mcpguard.domain.calls.allowances import Allowance, CallParts
from mcpguard.domain.calls.holds import HoldBasis
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.store.rows import allowances
from mcpguard.store.rows.tables import allowances as table
from tests.tiers import examples

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
MOMENTS = st.integers(0, 2**53)
GENERATIONS = st.tuples(st.text("ab-", min_size=1, max_size=36), MOMENTS)
ALLOWANCES = st.builds(
    Allowance,
    st.just("one"),
    TEXTS,
    TEXTS,
    TEXTS,
    st.builds(Capability, TEXTS, st.sampled_from(CapabilityKind), TEXTS),
    st.builds(HoldBasis, GENERATIONS, GENERATIONS),
    TEXTS,
    TEXTS,
    st.builds(CallParts, st.dictionaries(TEXTS, TEXTS, max_size=4), TEXTS),
    st.lists(TEXTS, max_size=3).map(tuple),
    MOMENTS,
    st.integers(0, 20),
    MOMENTS,
    TEXTS,
    TEXTS,
)
ONE = Allowance(
    "one", "t", "c", "desk", Capability("web", CapabilityKind.TOOL, "echo"), HoldBasis(("u", 1), ("p", 2)),
    "v1:0", "read", CallParts({"a": "x"}, "y"), ("b",), 9, 2, 1, "ada", "fine",
)  # fmt: skip


@given(ALLOWANCES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(50), deadline=None)
def test_an_allowance_comes_back_as_it_was(connection: Connection, allowance: Allowance) -> None:
    connection.execute(delete(table))
    allowances.put(connection, allowance)
    assert allowances.list_allowances(connection) == [allowance]
    used = allowances.use(connection, replace(allowance, left=0), allowance.until - 1)
    assert used == (allowance.left > 0), "it is found again, whatever memory has left of it"


def test_it_is_used_up_and_ends_once(connection: Connection) -> None:
    allowances.put(connection, ONE)
    assert [allowances.use(connection, ONE, 8) for _ in range(3)] == [True, True, False]
    assert allowances.list_allowances(connection) == [replace(ONE, left=0)]
    assert (allowances.end(connection, "one"), allowances.end(connection, "one")) == (True, False)
    assert not allowances.use(connection, ONE, 8)


def test_it_is_not_used_where_it_is_over_or_another(connection: Connection) -> None:
    allowances.put(connection, ONE)
    assert not allowances.use(connection, ONE, 9)
    for other in (
        replace(ONE, until=10),
        replace(ONE, caller="d"),
        replace(ONE, open=("b", "a")),
        replace(ONE, same=CallParts({}, "y")),
        replace(ONE, rests=HoldBasis(("u", 1), ("p", 3))),
    ):
        assert not allowances.use(connection, other, 8), other
    assert allowances.list_allowances(connection) == [ONE]
