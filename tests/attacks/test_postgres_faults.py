"""What people do to a PostgreSQL database, and what crashes do, while the guard runs on it: no call is carried out that
is not recorded, and when it is over, calls go on by themselves."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg
import pytest
from anyio import to_thread
from sqlalchemy import make_url

from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.domain.capabilities import Effect
from tests.attacks.refusing import refused
from tests.postgres import fresh_database
from tests.process import until
from tests.world import world

pytestmark = pytest.mark.anyio

TERMINATE = (
    "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
)


@contextmanager
def altered(admin: psycopg.Connection, database: str, there: str, back: str) -> Iterator[None]:
    """Whoever administers the database does something, ends its sessions, and takes it back later."""
    admin.execute(there.encode())
    admin.execute(TERMINATE, [database])
    try:
        yield
    finally:
        admin.execute(back.encode())


@contextmanager
def locked(admin: psycopg.Connection, _: str) -> Iterator[None]:
    with admin.transaction():
        admin.execute("LOCK TABLE records IN ACCESS EXCLUSIVE MODE")
        yield


def alteration(there: str, back: str) -> "Fault":
    @contextmanager
    def fault(admin: psycopg.Connection, database: str) -> Iterator[None]:
        with altered(admin, database, there.format(database), back.format(database)):
            yield

    return fault


Fault = Callable[[psycopg.Connection, str], AbstractContextManager[None]]
FAULTS = {
    "no right to write": alteration("REVOKE INSERT ON records FROM keeper", "GRANT INSERT ON records TO keeper"),
    "no right to read": alteration("REVOKE SELECT ON records FROM keeper", "GRANT SELECT ON records TO keeper"),
    "no login": alteration("ALTER ROLE keeper NOLOGIN", "ALTER ROLE keeper LOGIN"),
    "no connection left": alteration("ALTER ROLE keeper CONNECTION LIMIT 0", "ALTER ROLE keeper CONNECTION LIMIT -1"),
    "nothing but reading": alteration(
        "ALTER DATABASE {} SET default_transaction_read_only = on",
        "ALTER DATABASE {} RESET default_transaction_read_only",
    ),
    "the table is gone": alteration("ALTER TABLE records RENAME TO aside", "ALTER TABLE aside RENAME TO records"),
    "the table is locked": locked,
}


async def idle_for_longer(url: str, admin: str) -> None:
    """Until the sessions of the guard have been idle for longer than any of the settings allows."""
    question = (
        "SELECT min(clock_timestamp() - state_change) > interval '20 ms' FROM pg_stat_activity "
        "WHERE datname = %s AND pid <> pg_backend_pid() AND state = 'idle'"
    )

    def idle(connection: psycopg.Connection) -> bool:
        return connection.execute(question, [make_url(url).database]).fetchone() == (True,)

    with psycopg.connect(admin, autocommit=True) as connection:
        await to_thread.run_sync(until, lambda: idle(connection), "sessions that are idle")


@pytest.fixture
def kept(postgres_server: str) -> tuple[str, str]:
    """The URL of a new database for a role that has no rights but its own, and one for whoever administers it."""
    admin = fresh_database(postgres_server)
    with psycopg.connect(admin, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'keeper'").fetchone():
            connection.execute("CREATE ROLE keeper LOGIN")
        connection.execute(f"ALTER DATABASE {make_url(admin).database} OWNER TO keeper".encode())
        connection.execute("GRANT ALL ON SCHEMA public TO keeper")
    return make_url(admin).set(username="keeper").render_as_string(hide_password=False), admin


@pytest.mark.parametrize("what", FAULTS)
async def test_what_an_administrator_does_refuses_calls_until_it_is_taken_back(
    kept: tuple[str, str], what: str, tmp_path: Path
) -> None:
    url, admin = kept
    async with world(tmp_path, store__url=url, store__busy_timeout=0.1) as guard:
        assert (await guard.call()).kind is OutcomeKind.ANSWERED
        before = guard.said()
        fault, database = FAULTS[what], make_url(admin).database or ""
        with psycopg.connect(admin, autocommit=True) as connection, fault(connection, database):
            await refused(guard)
            await guard.clock.advance(5)
            await refused(guard)
        await guard.recovered()
        said = guard.said()
        assert said[: len(before)] == before
        assert [each["kind"] for each in said[len(before) :]] == ["resumed"], "nothing of a refused call is left"
        assert (await guard.call()).kind is OutcomeKind.ANSWERED
        assert guard.verified().whole


async def test_a_session_that_can_only_read_is_not_kept(kept: tuple[str, str], tmp_path: Path) -> None:
    """A transaction that writes nothing is carried out on it, so that nothing but a refused job tells."""
    url, admin = kept
    database = make_url(admin).database or ""
    async with world(tmp_path, store__url=url, store__busy_timeout=0.1) as guard:
        with psycopg.connect(admin, autocommit=True) as connection:
            with FAULTS["nothing but reading"](connection, database):
                await refused(guard)
                await guard.settle()
            await guard.recovered()
        assert (await guard.call()).kind is OutcomeKind.ANSWERED
        assert guard.verified().whole


@pytest.mark.parametrize(
    "setting",
    [
        "lock_timeout = 1",
        "idle_session_timeout = 10",
        "idle_in_transaction_session_timeout = 1",
        "default_transaction_isolation = 'serializable'",
        "default_transaction_deferrable = on",
        "synchronous_commit = off",
        "client_encoding = 'LATIN1'",
        "search_path = nowhere, public",
        "bytea_output = 'escape'",
        "standard_conforming_strings = off",
        "TimeZone = 'Pacific/Kiritimati'",
        "default_transaction_isolation = 'repeatable read'",
    ],
)
async def test_what_is_set_for_every_session_changes_nothing(
    kept: tuple[str, str], setting: str, tmp_path: Path
) -> None:
    url, admin = kept
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"ALTER ROLE keeper IN DATABASE {make_url(admin).database} SET {setting}".encode())
    async with world(tmp_path, store__url=url) as guard:
        for effect in Effect:
            assert (await guard.call(guard.opening(effect=effect))).kind is OutcomeKind.ANSWERED
            await idle_for_longer(url, admin)
        assert guard.verified().whole
        assert "resumed" not in [said["kind"] for said in guard.said()]
