"""Held calls come back as they were put there, and move only from where they stand."""

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete

from mcpguard.domain.calls.holds import HeldCall, HeldFacts, HoldBasis, HoldState
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.store.rows import holds
from mcpguard.store.rows.tables import holds as table
from tests.tiers import examples

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
MOMENTS = st.integers(0, 2**53)
GENERATIONS = st.tuples(st.text("ab-", min_size=1, max_size=36), MOMENTS)
ASKING = st.builds(HeldFacts, MOMENTS, *[TEXTS] * 7, st.booleans(), *[TEXTS] * 3)
HOLDS = st.builds(
    HeldCall,
    st.just("one"),
    st.sampled_from([HoldState.WAITING, HoldState.ALLOWED, HoldState.DENIED]),
    st.binary(max_size=80),
    st.just("caller"),
    st.builds(Capability, TEXTS, st.sampled_from(CapabilityKind), TEXTS),
    st.builds(HoldBasis, GENERATIONS, st.none() | GENERATIONS),
    MOMENTS,
    ASKING,
    TEXTS,
    TEXTS,
)
ASKED = HeldFacts(1, "desk", "", "direct", "tools/call", "read", "", "read", False, "unknown", "", "any")
HELD = HeldCall(
    "one",
    HoldState.WAITING,
    b"s",
    "c",
    Capability("web", CapabilityKind.TOOL, "t"),
    HoldBasis(("u", 1), ("p", 2)),
    9,
    ASKED,
)


@given(HOLDS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(50), deadline=None)
def test_a_hold_comes_back_as_it_was(connection: Connection, hold: HeldCall) -> None:
    connection.execute(delete(table))
    holds.put(connection, hold)
    assert holds.list_holds(connection) == [hold]


def test_it_moves_and_ends_once_and_only_from_where_it_stands(connection: Connection) -> None:
    holds.put(connection, HELD)
    allowed = replace(HELD, state=HoldState.ALLOWED, until=20, why="fine", by="somebody")
    assert not holds.end(connection, "one", HoldState.ALLOWED)
    assert holds.move(connection, HoldState.WAITING, allowed)
    assert not holds.move(connection, HoldState.WAITING, allowed)
    assert holds.list_holds(connection) == [allowed]
    assert not holds.end(connection, "one", HoldState.WAITING)
    assert holds.end(connection, "one", HoldState.ALLOWED)
    assert not holds.end(connection, "one", HoldState.ALLOWED)
    assert holds.list_holds(connection) == []
