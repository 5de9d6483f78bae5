"""The disk fills up, the file turns read-only, is locked, unlinked or replaced while the guard runs.

Each ends the same way: every call gets `ledger:unavailable`, no work begins, `/readyz` says so; and when the cause is
gone, the guard records again and the record says how long it could not.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection

from mcpguard.domain.calls.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.reasons import Reason
from mcpguard.guard.audit.call_counter import EVERY_SECONDS
from mcpguard.ledger.entries import Entry
from tests.recording import record
from tests.store.full import file_size_limit
from tests.world import World, verified, world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def guard(guard: World) -> World:
    """A guard that has counted its calls, as a start does: what counts would be the first to get a new connection."""
    await counted(guard)
    return guard


async def counted(guard: World) -> None:
    """Wait until the calls of earlier starts are counted."""
    while not guard.clock.has_sleeper(EVERY_SECONDS):
        await guard.settle()


async def refused(guard: World, *, together: bool = False) -> None:
    """Calls of every kind are refused, and none of their work begins.

    What a new connection would mend is met by one call alone, before the others: calls that come in the moment between
    may well be recorded, and then they are not refused. What lasts is met by all of them `together`.
    """
    began: list[str] = []

    async def work(entry: Entry) -> Outcome:
        began.append(entry.id)
        return Outcome.answer()

    async def call(number: int) -> None:
        verdict = Deny(Reason.SCOPE_EFFECT) if number % 3 == 0 else None
        opening = guard.opening(verdict, list(Effect)[number % 3])
        outcome = await record(guard.now.ledger, opening, work)
        assert outcome == Outcome.refusal(Reason.LEDGER_UNAVAILABLE)

    if not together:
        await call(1)
    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(call, number)
    assert began == []
    answer = await guard.network.get("/readyz")
    assert (answer.status_code, answer.json()["reason"]) == (503, "ledger:unavailable")


async def works_again(guard: World) -> dict[str, Any]:
    """After the next try it records again; what it says about the time between."""
    await guard.recovered()
    assert (await guard.network.get("/readyz")).status_code == 200
    assert (await guard.call()).kind is OutcomeKind.ANSWERED
    assert guard.verified().whole
    resumed = [record for record in guard.said() if record["kind"] == "resumed"]
    assert len(resumed) == 1
    return resumed[0]


async def test_no_file_can_grow(guard: World) -> None:
    await guard.call()
    before = guard.said()
    with file_size_limit(8192):  # less than any transaction needs, also in a WAL that begins anew
        await refused(guard, together=True)
    assert guard.said() == before
    resumed = await works_again(guard)
    assert resumed["refused"] >= 20


async def test_the_database_is_full(guard: World) -> None:
    """SQLite's own limit on pages gives the very error that a full disk gives (SQLITE_FULL)."""

    def fill(connection: Connection) -> None:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

    await guard.now.store.writer.submit(fill)
    outcomes = [await guard.call() for _ in range(200)]  # some fit into the pages there are
    full = outcomes.index(next(o for o in outcomes if o.kind is not OutcomeKind.ANSWERED))
    assert all(outcome.kind is OutcomeKind.ANSWERED for outcome in outcomes[:full])
    assert all(outcome.reason in LOST for outcome in outcomes[full:])
    assert "full" in (guard.now.guard.readiness().cause)
    await refused(guard)
    await works_again(guard)  # on a new connection, which has no such limit
    assert all(said["executed"] == "yes" for said in guard.said() if said.get("late"))


LOST = {Reason.LEDGER_UNAVAILABLE, Reason.LEDGER_OUTCOME_UNRECORDED}


async def test_the_file_turns_read_only(guard: World) -> None:
    await guard.call()
    before = guard.said()

    def turn_read_only(connection: Connection) -> None:
        connection.exec_driver_sql("PRAGMA query_only=ON")

    await guard.now.store.writer.submit(turn_read_only)
    await refused(guard)
    assert guard.said() == before
    await works_again(guard)


async def test_another_process_locks_the_database(tmp_path: Path) -> None:
    async with world(tmp_path, store__busy_timeout=0.05) as guard:
        await guard.call()
        before = guard.said()
        with closing(sqlite3.connect(guard.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await refused(guard, together=True)
            assert guard.said() == before
            assert "locked" in guard.now.guard.readiness().cause
            await guard.clock.advance(3)
            assert (await guard.network.get("/readyz")).status_code == 503
            other.execute("ROLLBACK")
        await works_again(guard)


async def test_a_cause_that_is_no_text_does_not_keep_it_from_recording_again(tmp_path: Path) -> None:
    """The cause names the file, and a folder's name may be any bytes."""
    folder = os.fsdecode(bytes(tmp_path) + b"/\xff")
    os.mkdir(folder)  # noqa: PTH102 - nobody waits
    async with world(Path(folder)) as guard:
        await guard.call()
        away = guard.database.with_name("away.db")
        guard.database.rename(away)
        await refused(guard, together=True)
        away.rename(guard.database)
        assert "U+DCFF" in (await works_again(guard))["why"]


@pytest.mark.parametrize("suffix", ["", "-wal"])
async def test_a_file_is_unlinked_while_it_is_open(guard: World, suffix: str, tmp_path: Path) -> None:
    """A commit to an unlinked database succeeds silently: nobody may be told that it is stored."""
    await guard.call()
    await guard.settle()
    file = guard.database.with_name(guard.database.name + suffix)
    kept = tmp_path / "kept"
    os.link(file, kept)
    file.unlink()
    await refused(guard, together=suffix == "")
    assert "removed or replaced" in guard.now.guard.readiness().cause
    await guard.clock.advance(5)
    if suffix == "":
        assert (await guard.network.get("/readyz")).status_code == 503


async def test_the_file_is_replaced_by_a_copy(guard: World, tmp_path: Path) -> None:
    """A copy looks the same to readers, but what is written to the open file would not reach it."""
    await guard.call()
    copy = tmp_path / "copy.db"
    shutil.copy(guard.database, copy)
    copy.replace(guard.database)
    await refused(guard, together=True)


async def test_a_call_whose_end_cannot_be_recorded_is_told_so_and_its_end_is_recorded_later(guard: World) -> None:
    opening = guard.opening(effect=Effect.WRITE)

    async def work(entry: Entry) -> Outcome:
        entry.permit()
        await guard.now.store.writer.submit(lambda c: c.exec_driver_sql("PRAGMA query_only=ON").close())
        return Outcome.answer()

    outcome = await record(guard.now.ledger, opening, work)
    assert (outcome.executed, outcome.reason) == (Executed.YES, Reason.LEDGER_OUTCOME_UNRECORDED)
    await refused(guard)
    assert [said["kind"] for said in guard.said() if said.get("entry") == opening.entry] == ["opened"]

    await works_again(guard)
    _, closed = [said for said in guard.said() if said.get("entry") == opening.entry]
    assert (closed["outcome"], closed["executed"], closed["late"]) == ("answered", "yes", True)
    assert guard.now.ledger.open_entries == 0


async def test_a_store_that_stays_away_does_not_keep_the_guard_from_stopping(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        await counted(guard)
        await guard.call()
        await guard.now.store.writer.submit(lambda c: c.exec_driver_sql("PRAGMA query_only=ON").close())
        await refused(guard)
        database = guard.database
        shutil.move(database, tmp_path / "moved.db")
    assert not database.exists()


async def test_the_next_start_closes_what_was_left_open(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:

        async def work(entry: Entry) -> Outcome:
            entry.permit()
            copy = sqlite3.connect(tmp_path / "copy.db")
            with closing(sqlite3.connect(guard.database)) as live, closing(copy):
                live.backup(copy)  # the store as it is while the call runs: what a crash here would leave
            return Outcome.answer()

        opening = guard.opening(effect=Effect.DESTRUCTIVE)
        await record(guard.now.ledger, opening, work)
        database = guard.database
    database.unlink()
    (tmp_path / "copy.db").replace(database)
    database.chmod(0o600)
    assert verified(database).chains[0].open_entries == {opening.entry}

    async with world(tmp_path) as guard:
        _, closed = [said for said in guard.said() if said.get("entry") == opening.entry]
        assert (closed["outcome"], closed["executed"], closed["reason"]) == ("unknown", "unknown", "guard:crashed")
        report = guard.verified()
        assert report.whole
        assert report.chains[0].open_entries == set()
