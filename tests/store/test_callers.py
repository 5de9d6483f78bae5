"""Callers come back as they were put there. Of what was revoked, the id and the token are never another's."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete
from sqlalchemy.exc import IntegrityError

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.grants import Grant
from mcpguard.store.rows import callers
from mcpguard.store.rows.tables import callers as table
from tests.tiers import examples

PATTERNS = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9), max_size=3)
SCOPES = st.builds(Scope, PATTERNS.map(tuple), PATTERNS.map(tuple), st.frozensets(st.sampled_from(Effect)))
CALLERS = st.builds(Caller, st.just("one"), st.just("agent"), SCOPES, st.booleans(), st.booleans())
MOMENTS = st.integers(0, 2**53)
GRANTS = st.builds(Grant, CALLERS, MOMENTS, st.text("ab ()", max_size=9), st.none() | MOMENTS)
DIGEST = b"d" * 32


def grant(id_: str = "one", label: str = "agent") -> Grant:
    return Grant(Caller(id_, label, Scope(("*",), ("*",), frozenset(Effect))), 1, "somebody")


@given(GRANTS, st.binary(min_size=32, max_size=32))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(50), deadline=None)
def test_a_caller_comes_back_as_it_was(connection: Connection, granted: Grant, digest: bytes) -> None:
    connection.execute(delete(table))
    callers.put(connection, granted, digest)
    assert callers.list_callers(connection) == [(granted, digest)]


def test_what_was_revoked_is_gone_and_revoked_once(connection: Connection) -> None:
    callers.put(connection, grant(), DIGEST)
    assert callers.revoke(connection, "one", 7, "another")
    assert not callers.revoke(connection, "one", 8, "a third")
    assert callers.list_callers(connection) == []
    (row,) = connection.execute(table.select())
    assert (row.revoked_at, row.revoked_by) == (7, "another")
    assert not callers.revoke(connection, "nobody", 9, "a third")


@pytest.mark.parametrize(
    ("other", "digest"), [(grant("one", "b"), b"o"), (grant("two"), b"o"), (grant("two", "b"), DIGEST)]
)
def test_an_id_a_label_and_a_token_are_one_callers(connection: Connection, other: Grant, digest: bytes) -> None:
    callers.put(connection, grant(), DIGEST)
    with pytest.raises(IntegrityError):
        callers.put(connection, other, digest)


def test_of_one_that_was_revoked_the_label_is_free_and_nothing_else(connection: Connection) -> None:
    callers.put(connection, grant(), DIGEST)
    callers.revoke(connection, "one", 7, "another")
    callers.put(connection, grant("two"), b"o" * 32)
    assert [each.caller.id for each, _ in callers.list_callers(connection)] == ["two"]
    savepoint = connection.begin_nested()
    with pytest.raises(IntegrityError):
        callers.put(connection, grant("three", "b"), DIGEST)
    savepoint.rollback()
    with pytest.raises(IntegrityError):
        callers.put(connection, grant("one", "b"), b"x" * 32)
