"""People, sessions, tokens and links come back as they were put there, and nobody's name or credential is another's."""

from dataclasses import replace

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from mcpguard.domain.people import OperatorToken, Role, Session, User
from mcpguard.store.rows import people, sessions

ADA = User("u-1", "ada", Role.ADMIN, "$hash", 1, "somebody")
SESSION = Session("s-1", "u-1", 5, 6, 7, "192.0.2.1")
TOKEN = OperatorToken("t-1", "ci", Role.AUDITOR, 3, "ada", 9)
DIGEST = b"d" * 32


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("disabled", [True, False])
def test_a_user_comes_back_as_they_are_and_as_they_were_changed(
    connection: Connection, role: Role, *, disabled: bool
) -> None:
    ada = replace(ADA, role=role, disabled=disabled)
    people.put(connection, replace(ADA, id="u-2", name="bob"))
    people.put(connection, ada)
    assert people.list_users(connection) == [ada, replace(ADA, id="u-2", name="bob")]
    changed = replace(ada, role=Role.VIEWER, password="$other", disabled=not disabled)  # noqa: S106 - nobody's
    people.change(connection, changed)
    assert people.list_users(connection)[0] == changed
    assert people.list_users(connection)[1].role is Role.ADMIN
    assert people.is_taken(connection, "ada")
    assert not people.is_taken(connection, "eve")


@pytest.mark.parametrize("other", [replace(ADA, name="eve"), replace(ADA, id="u-2")])
def test_an_id_and_a_name_are_one_users(connection: Connection, other: User) -> None:
    people.put(connection, ADA)
    with pytest.raises(IntegrityError):
        people.put(connection, other)


def test_a_session_comes_back_is_used_and_ends(connection: Connection) -> None:
    other = replace(SESSION, id="s-2", created_at=4)
    sessions.put(connection, SESSION, DIGEST)
    sessions.put(connection, other, b"o" * 32)
    assert sessions.list_sessions(connection) == [(other, b"o" * 32), (SESSION, DIGEST)]
    sessions.use(connection, {})
    sessions.use(connection, {"s-1": 70, "nobody's": 71})
    assert sessions.list_sessions(connection)[1] == (SESSION.with_last_use(70), DIGEST)
    assert sessions.end(connection, []) == set()
    assert sessions.end(connection, ["s-1", "nobody's"]) == {"s-1"}
    assert sessions.end(connection, ["s-1"]) == set()
    assert sessions.list_sessions(connection) == [(other, b"o" * 32)]


@pytest.mark.parametrize(("other", "digest"), [(SESSION, b"o"), (replace(SESSION, id="s-2"), DIGEST)])
def test_what_a_browser_shows_is_one_session(connection: Connection, other: Session, digest: bytes) -> None:
    sessions.put(connection, SESSION, DIGEST)
    with pytest.raises(IntegrityError):
        sessions.put(connection, other, digest)


@pytest.mark.parametrize("expires", [None, 9])
def test_a_token_comes_back_until_it_is_revoked_once(connection: Connection, expires: int | None) -> None:
    token = replace(TOKEN, expires_at=expires)
    people.put_token(connection, token, DIGEST)
    assert people.active_tokens(connection) == [(token, DIGEST)]
    assert people.token_is_taken(connection, "ci")
    assert people.revoke_token(connection, "t-1", 7, "ada")
    assert not people.revoke_token(connection, "t-1", 8, "eve")
    assert people.active_tokens(connection) == []
    assert not people.token_is_taken(connection, "ci")
    people.put_token(connection, replace(token, id="t-2"), b"o" * 32)
    with pytest.raises(IntegrityError):
        people.put_token(connection, replace(token, id="t-3", name="x"), DIGEST)


def test_one_link_is_good_at_a_time_until_it_is_used_or_too_old(connection: Connection) -> None:
    sessions.offer(connection, "l-1", b"one", 100)
    sessions.offer(connection, "l-2", b"two", 100)
    assert sessions.open_setup(connection, b"one", 50) is None
    assert sessions.open_setup(connection, b"two", 99) == "l-2"
    assert sessions.open_setup(connection, b"two", 100) is None
    assert not sessions.was_set_up(connection)
    sessions.close(connection, "l-3", 60)
    assert sessions.open_setup(connection, b"two", 99) is None
    assert sessions.was_set_up(connection)
    sessions.offer(connection, "l-4", b"four", 100)
    assert sessions.was_set_up(connection), "once and for ever"


def test_there_was_somebody_also_where_there_was_no_link(connection: Connection) -> None:
    sessions.close(connection, "l-1", 60)
    assert sessions.was_set_up(connection)
    sessions.close(connection, "l-2", 61)


def test_there_is_somebody_while_there_is_a_user(connection: Connection) -> None:
    people.put(connection, ADA)
    assert sessions.was_set_up(connection)
