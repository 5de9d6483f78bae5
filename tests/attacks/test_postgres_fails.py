"""The PostgreSQL server goes away while the guard runs, comes back, and may have lost what it had not yet synced."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import psycopg
import pytest
from anyio import to_thread
from anyio.abc import ByteStream, SocketAttribute, SocketStream
from sqlalchemy import make_url, text

from mcpguard.domain.calls.outcomes import Outcome, OutcomeKind
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.entries import Entry
from mcpguard.store.engine.postgres import Postgres
from tests import postgres
from tests.attacks.refusing import refused
from tests.patience import PATIENCE
from tests.postgres import PostgresServer, fresh_database
from tests.recording import record
from tests.world import said as everything_said
from tests.world import world

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server of this test's own, to be stopped and started."""
    with postgres.running() as made:
        yield made


async def test_the_server_stops_and_starts_again(server: PostgresServer, tmp_path: Path) -> None:
    async with world(tmp_path, store__url=fresh_database(server.get_uri())) as guard:
        assert (await guard.call()).kind is OutcomeKind.ANSWERED
        server.stop()
        await refused(guard)
        await guard.clock.advance(5)
        assert (await guard.network.get("/readyz")).status_code == 503
        server.start()
        await guard.recovered()
        assert (await guard.call()).kind is OutcomeKind.ANSWERED
        assert (await guard.network.get("/readyz")).status_code == 200
        assert [said["kind"] for said in guard.said()].count("resumed") == 1
        assert guard.verified().whole


async def test_a_process_of_the_server_is_killed(server: PostgresServer, tmp_path: Path) -> None:
    """The server ends all its sessions then, and reads its log anew, as after a crash of the machine: what is not
    synced may be gone, such as how a call ended, and that is said."""
    url = fresh_database(server.get_uri())
    async with world(tmp_path, store__url=url) as guard:
        assert (await guard.call(guard.opening(effect=Effect.WRITE))).kind is OutcomeKind.ANSWERED
        with psycopg.connect(url) as connection:
            lock = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
            (writer,) = connection.execute(lock).fetchone() or (0,)
        before = guard.said()
        assert [each["kind"] for each in before[-2:]] == ["opened", "closed"]
        os.kill(writer, signal.SIGKILL)
        await refused(guard)
        await guard.recovered()
        assert (await guard.call()).kind is OutcomeKind.ANSWERED
        after = guard.said()
        assert after[: len(before) - 1] == before[:-1], "what was sent is known"
        assert after[len(before) - 1] == before[-1] or "lost" in [each["kind"] for each in after]
        assert guard.verified().whole


def crash(url: str, lost: int) -> None:
    """What a crash of the server would do: the records from this number on are gone, and so is our session."""
    with psycopg.connect(url) as connection:
        connection.execute("DELETE FROM records WHERE seq >= %s", [lost])
        connection.commit()
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid()"
        )


def end_sessions(url: str) -> None:
    """Whoever administers the database ends every session of it, and waits until they are gone."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid()"
        )


async def test_acknowledged_records_that_a_crash_of_the_server_lost_are_recorded_as_lost(
    postgres_server: str, tmp_path: Path
) -> None:
    url = fresh_database(postgres_server)
    async with world(tmp_path, store__url=url) as guard:
        await guard.call()
        await guard.call()
        lost = guard.said()[-2:]
        crash(url, lost[0]["seq"])
        await refused(guard)
        await guard.recovered()
        assert (await guard.call()).kind is OutcomeKind.ANSWERED
        said = next(record for record in guard.said() if record["kind"] == "lost")
        assert (said["acknowledged"], said["found"]) == (lost[-1]["seq"], lost[0]["seq"] - 1)
        report = guard.verified()
        assert report.whole
        assert any("lost" in notice for notice in report.chains[0].notices)


async def test_a_call_whose_closing_a_crash_lost_is_not_said_to_have_been_refused(
    postgres_server: str, tmp_path: Path
) -> None:
    """It was executed and answered. All that is known now is that nobody knows any more."""
    url = fresh_database(postgres_server)
    async with world(tmp_path, store__url=url) as guard:
        opening = guard.opening()
        assert (await guard.call(opening)).kind is OutcomeKind.ANSWERED
        crash(url, guard.said()[-1]["seq"])
        await refused(guard)
        await guard.recovered()
        _, closed = [said for said in guard.said() if said.get("entry") == opening.entry]
        assert (closed["outcome"], closed["executed"], closed["late"]) == ("unknown", "unknown", True)
        assert guard.verified().whole


async def test_a_call_whose_opening_a_crash_lost_is_closed_and_the_chain_stays_whole(
    postgres_server: str, tmp_path: Path
) -> None:
    url = fresh_database(postgres_server)
    async with world(tmp_path, store__url=url) as guard:
        opening = guard.opening()

        async def work(entry: Entry) -> Outcome:
            entry.permit()
            crash(url, guard.said()[-1]["seq"])
            await refused(guard)
            await guard.recovered()
            return Outcome.answer()

        assert (await record(guard.now.ledger, opening, work)).kind is OutcomeKind.ANSWERED
        assert [said["kind"] for said in guard.said() if said.get("entry") == opening.entry] == ["closed"]
        report = guard.verified()
        assert report.whole, report.chains[0].problems


async def test_a_second_guard_on_the_same_database_is_refused(postgres_server: str, tmp_path: Path) -> None:
    url = fresh_database(postgres_server)
    (tmp_path / "second").mkdir()
    async with world(tmp_path, store__url=url) as guard:
        with pytest.raises(StoreUnavailable, match="in use by another guard"):
            async with world(tmp_path / "second", store__url=url, store__busy_timeout=0.1):
                raise AssertionError
        assert (await guard.call()).kind is OutcomeKind.ANSWERED
        assert guard.verified().whole


async def test_a_guard_whose_database_another_one_took_refuses_until_it_is_started_again(
    postgres_server: str, tmp_path: Path
) -> None:
    """The other one ended a person's rights, say: who goes on with what was known before would let them in."""
    url = fresh_database(postgres_server)
    (tmp_path / "second").mkdir()
    async with world(tmp_path, store__url=url, store__busy_timeout=0.1) as guard:
        assert (await guard.call()).kind is OutcomeKind.ANSWERED
        end_sessions(url)
        async with world(tmp_path / "second", store__url=url) as second:
            assert (await second.call()).kind is OutcomeKind.ANSWERED
            await refused(guard)
            with pytest.raises(StoreUnavailable, match="in use by another guard"):
                await guard.settle()
        before = guard.said()
        for _ in range(3):
            await guard.clock.advance(60)
            with pytest.raises(StoreUnavailable, match="another guard has started on this database"):
                await guard.settle()
            await refused(guard)
        assert "Restart this guard" in guard.now.guard.readiness().cause
        assert guard.said() == before, "nothing was added"
    assert everything_said(make_url(url)) == before, "not even the end"
    async with world(tmp_path, store__url=url) as again:
        assert (await again.call()).kind is OutcomeKind.ANSWERED
        assert again.verified().whole


async def test_a_session_that_was_ended_while_nobody_else_came_is_mended(postgres_server: str, tmp_path: Path) -> None:
    url = fresh_database(postgres_server)
    async with world(tmp_path, store__url=url) as guard:
        for _ in range(2):
            end_sessions(url)
            await refused(guard)
            await guard.recovered()
            assert (await guard.call()).kind is OutcomeKind.ANSWERED
        assert guard.verified().whole


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_a_database_that_cannot_hold_every_text_is_refused_at_the_start(
    postgres_server: str, encoding: str, tmp_path: Path
) -> None:
    url = fresh_database(postgres_server, f"ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(StoreUnavailable, match=f"has the encoding {encoding}.*createdb --encoding=UTF8"):
        async with world(tmp_path, store__url=url):
            raise AssertionError
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert tables == (0,), "nothing was made"


async def test_an_upgrade_that_the_server_refuses_is_said_in_its_words(postgres_server: str, tmp_path: Path) -> None:
    admin = fresh_database(postgres_server)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("CREATE TABLE records (what text)")
    with pytest.raises(StoreUnavailable, match=r'could not be upgraded to schema .*"records" already exists'):
        async with world(tmp_path, store__url=admin):
            raise AssertionError
    with psycopg.connect(admin) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert tables == [("records",)], "nothing was made"


async def test_what_else_keeps_the_lock_away_is_not_called_another_guard(postgres_server: str, tmp_path: Path) -> None:
    url = fresh_database(postgres_server)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("REVOKE EXECUTE ON FUNCTION pg_advisory_lock(bigint) FROM PUBLIC")
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'unlocked'").fetchone():
            connection.execute("CREATE ROLE unlocked LOGIN")
    keeper = make_url(url).set(username="unlocked").render_as_string(hide_password=False)
    with pytest.raises(StoreUnavailable, match="cannot be used: permission denied for function pg_advisory_lock"):
        async with world(tmp_path, store__url=keeper):
            raise AssertionError


async def test_the_password_of_the_database_appears_nowhere(postgres_server: str, tmp_path: Path) -> None:
    url = fresh_database(postgres_server).replace("postgres:@", "postgres:canary@")
    assert "canary" in url
    async with world(tmp_path, store__url=url) as guard:
        await guard.call()
        answers = [(await guard.operator.get("/api/v1/status")).text, (await guard.network.get("/")).text]
        assert not any("canary" in text for text in [*answers, repr(guard.said()), repr(guard.now)])
    assert not any(b"canary" in content for content in everything_in(tmp_path))


def everything_in(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file()]


class Wire:
    """A port that passes everything on to the server. While it is not `whole`, it keeps it, and closes nothing."""

    def __init__(self, server: str) -> None:
        self._server = server
        self.whole = anyio.Event()
        self.whole.set()

    async def __call__(self, client: SocketStream) -> None:
        async with client, await anyio.connect_unix(self._server) as server, anyio.create_task_group() as both:
            both.start_soon(self._pass_on, client, server)
            both.start_soon(self._pass_on, server, client)

    async def _pass_on(self, one: ByteStream, other: ByteStream) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while data := await one.receive():
                await self.whole.wait()
                await other.send(data)
        await other.aclose()


async def test_a_network_that_swallows_everything_refuses_calls_until_it_is_back(
    postgres_server: str, tmp_path: Path
) -> None:
    url = make_url(fresh_database(postgres_server))
    wire = Wire(f"{url.query['host']}/.s.PGSQL.{url.port or 5432}")
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, wire)
        port = listener.extra_attributes[SocketAttribute.local_port]()
        through = url.set(host="127.0.0.1", port=port, query={}).render_as_string(hide_password=False)
        async with world(tmp_path, store__url=through, store__busy_timeout=0.1) as guard:
            assert (await guard.call()).kind is OutcomeKind.ANSWERED
            wire.whole = anyio.Event()
            with anyio.fail_after(PATIENCE):
                await refused(guard)
            wire.whole.set()
            await guard.recovered()
            assert (await guard.call()).kind is OutcomeKind.ANSWERED
            assert (await anyio.to_thread.run_sync(guard.verified)).whole
        tasks.cancel_scope.cancel()


async def test_a_connection_whose_answer_did_not_come_is_used_for_nothing_else(postgres_server: str) -> None:
    url = make_url(fresh_database(postgres_server))
    wire = Wire(f"{url.query['host']}/.s.PGSQL.{url.port or 5432}")
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, wire)
        port = listener.extra_attributes[SocketAttribute.local_port]()
        backend = Postgres(url.set(host="127.0.0.1", port=port, query={}), busy_timeout=0.1)
        connection = await to_thread.run_sync(backend.connect)
        ours = connection.connection.driver_connection
        assert isinstance(ours, psycopg.Connection)
        wire.whole = anyio.Event()
        with pytest.raises(psycopg.OperationalError):
            await to_thread.run_sync(ours.execute, "SELECT 1")
        assert ours.closed, "what comes late is the answer to nothing"
        wire.whole.set()
        await to_thread.run_sync(connection.close)
        backend.dispose()
        tasks.cancel_scope.cancel()


def test_the_server_is_told_to_end_sessions_that_it_hears_nothing_of(postgres_server: str) -> None:
    backend = Postgres(make_url(fresh_database(postgres_server)), busy_timeout=1)
    asked = text("SELECT name, reset_val FROM pg_settings WHERE name LIKE 'tcp_keepalives%' OR name LIKE 'idle_in_tr%'")
    alive = {"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}
    with backend.connect() as writing, backend.readers(1).connect() as reading:
        told = [{row.name: row.reset_val for row in each.execute(asked)} for each in (writing, reading)]
    backend.dispose()
    assert told == [
        alive | {"idle_in_transaction_session_timeout": "20000"},
        alive | {"idle_in_transaction_session_timeout": "0"},
    ]
