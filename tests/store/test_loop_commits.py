"""What the event loop commits by itself, and what it leaves to the writer's thread."""

import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine import checkpointer, writer
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.sqlite import SQLite
from mcpguard.store.engine.store import Store, open_store
from mcpguard.store.rows import chains
from tests.store.tally import Tally

pytestmark = pytest.mark.anyio
LONG = 600.0


@asynccontextmanager
async def opened(file: Path, tally: Tally) -> AsyncIterator[Store]:
    """A store in this file, with a writing connection that is open already."""
    async with open_store(SQLite(file, busy_timeout=LONG), tally, batch=64, readers=1) as store:
        await store.writer.submit(lambda _: None, Durability.SYNCED)
        yield store


@asynccontextmanager
async def locked(file: Path) -> AsyncIterator[None]:
    """Another program has locked the database for the time of the block."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def adding(tally: Tally, name: str) -> Callable[[Connection], str]:
    """A job that stores a name and returns it."""

    def job(connection: Connection) -> str:
        tally.add(connection, name)
        return name

    return job


async def names(store: Store) -> list[str]:
    return sorted(await store.readers.run(chains.list_chains))


async def test_a_record_is_committed_on_the_loop_only_where_that_is_quick(store: Store) -> None:
    await store.writer.submit(lambda _: None, Durability.SYNCED)
    here = threading.current_thread()
    small = await store.writer.submit(lambda _: threading.current_thread(), bare=True)
    synced = await store.writer.submit(lambda _: threading.current_thread(), Durability.SYNCED, bare=True)
    decision = await store.writer.submit(lambda _: threading.current_thread())
    assert (small is here) == ("test.db" in store.name)
    assert here not in (synced, decision)


@given(kinds=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12))
async def test_jobs_run_in_the_order_in_which_they_were_submitted(
    kinds: list[tuple[bool, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whichever of them the loop commits: a closing must not come before its opening."""
    ran: list[int] = []

    def running(number: int, _: Connection) -> None:
        ran.append(number)

    async with (
        opened(tmp_path_factory.mktemp("order") / "test.db", Tally()) as store,
        anyio.create_task_group() as all_,
    ):
        for number, (synced, alone) in enumerate(kinds):
            durability = Durability.SYNCED if synced else Durability.COMMITTED
            submit = partial(store.writer.submit, bare=True, alone=alone)
            all_.start_soon(submit, partial(running, number), durability)
            if number % 3 == 2:
                await checkpoint()
    assert ran == list(range(len(kinds)))


async def test_what_is_submitted_alone_is_stored_before_anything_else_runs(tmp_path: Path) -> None:
    tally = Tally()
    async with opened(tmp_path / "test.db", tally) as store:
        coroutine = store.writer.submit(adding(tally, "alone"), bare=True, alone=True)
        with pytest.raises(StopIteration) as done:
            coroutine.send(None)
        assert done.value.value == "alone"
        assert await names(store) == ["alone"]


async def test_who_submits_one_job_after_the_other_lets_others_submit_theirs(tmp_path: Path) -> None:
    ran: list[str] = []
    async with opened(tmp_path / "test.db", Tally()) as store, anyio.create_task_group() as all_:
        for name in ("a", "b"):
            all_.start_soon(one_after_the_other, store, ran, name)
    assert ran.index("b") <= 2, "it came before the third job of the other"


async def one_after_the_other(store: Store, ran: list[str], name: str) -> None:
    for _ in range(9):
        await store.writer.submit(lambda _: ran.append(name), bare=True, alone=True)


async def test_what_is_submitted_alone_does_not_overtake_what_waits(tmp_path: Path) -> None:
    tally = Tally()
    async with opened(tmp_path / "test.db", tally) as store:
        ran: list[str] = []
        first = store.writer.submit(lambda _: ran.append("first"), bare=True)
        first.send(None)
        await store.writer.submit(lambda _: ran.append("alone"), bare=True, alone=True)
        first.close()
    assert ran == ["first", "alone"]


async def test_the_loop_does_not_wait_for_another_programs_lock(tmp_path: Path) -> None:
    file, tally, stored = tmp_path / "test.db", Tally(), anyio.Event()

    async def submit(store: Store) -> None:
        await store.writer.submit(adding(tally, "late"), bare=True)
        stored.set()

    async with opened(file, tally) as store, anyio.create_task_group() as tasks:
        async with locked(file):
            tasks.start_soon(submit, store)
            for _ in range(100):  # the loop goes on: else the lock would never be released
                await checkpoint()
            assert not stored.is_set()
        await stored.wait()
        assert await names(store) == ["late"]


async def test_after_a_slow_commit_the_thread_waits_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a disk that stalls the loop is held up once, and not by every call."""
    monkeypatch.setattr(writer, "SLOW_SECONDS", -1.0)  # whatever a commit takes is slow
    monkeypatch.setattr(writer, "SLOW_AT_FIRST", LONG)
    async with opened(tmp_path / "test.db", Tally()) as store:
        here = threading.current_thread()
        assert await store.writer.submit(lambda _: threading.current_thread(), bare=True) is here
        assert await store.writer.submit(lambda _: threading.current_thread(), bare=True) is not here


async def test_more_than_a_batch_is_left_to_the_thread(tmp_path: Path) -> None:
    threads: list[threading.Thread] = []
    async with opened(tmp_path / "test.db", Tally()) as store, anyio.create_task_group() as tasks:
        for _ in range(65):
            job = partial(_note_thread, threads)
            tasks.start_soon(partial(store.writer.submit, job, bare=True))
    assert len(threads) == 65
    assert threading.current_thread() not in threads


def _note_thread(threads: list[threading.Thread], _: Connection) -> None:
    threads.append(threading.current_thread())


async def test_a_transaction_that_fails_on_the_loop_leaves_no_lock_and_the_next_one_works(tmp_path: Path) -> None:
    file, tally = tmp_path / "test.db", Tally()

    def doomed(connection: Connection) -> None:
        tally.add(connection, "doomed")
        raise ZeroDivisionError

    async with opened(file, tally) as store:
        with pytest.raises(StoreUnavailable, match="ZeroDivisionError"):
            await store.writer.submit(doomed, bare=True)
        assert tally.counted is None, "what is stored is found out anew"
        async with locked(file):
            pass
        await store.writer.submit(adding(tally, "next"), bare=True)
        assert await names(store) == ["next"]
        assert tally.sure == 1


async def test_the_loop_reports_nothing_as_stored_in_a_file_that_was_removed(tmp_path: Path) -> None:
    file, tally = tmp_path / "test.db", Tally()
    async with opened(file, tally) as store:
        file.rename(tmp_path / "elsewhere.db")
        with pytest.raises(StoreUnavailable, match="was removed or replaced"):
            await store.writer.submit(adding(tally, "gone"), bare=True)
        assert tally.sure == 0


async def test_a_cancelled_task_learns_what_was_stored_and_only_its_own_scope_ends(tmp_path: Path) -> None:
    tally = Tally()
    async with opened(tmp_path / "test.db", tally) as store:
        with anyio.CancelScope() as scope:
            scope.cancel()
            assert await store.writer.submit(adding(tally, "kept"), bare=True) == "kept"
        await checkpoint()  # raises if the cancellation had been left behind for whatever comes next
        assert not scope.cancelled_caught
        assert await names(store) == ["kept"]


async def test_committed_pages_are_moved_while_commits_go_on(tmp_path: Path) -> None:
    """Also past a reader that never ends, which keeps the WAL from beginning anew."""
    file, tally = tmp_path / "test.db", Tally()
    async with opened(file, tally) as store:
        empty = file.stat().st_size
        with closing(sqlite3.connect(file)) as reader:
            reader.execute("SELECT * FROM chains").fetchall()
            while file.stat().st_size == empty:
                name = f"{len(await names(store)):0500}"
                await store.writer.submit(adding(tally, name), bare=True)
        assert tally.sure >= checkpointer.COMMITS - 1


async def test_a_wal_that_a_busy_writer_makes_ever_longer_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpointer, "LONG", 200)
    tally = Tally()
    async with opened(tmp_path / "test.db", tally) as store:
        wal, longest, number = tmp_path / "test.db-wal", 0, 0
        while wal.stat().st_size > longest:  # grows as long as it has not begun anew
            longest = wal.stat().st_size
            for _ in range(2 * checkpointer.COMMITS):
                number += 1
                await store.writer.submit(adding(tally, f"{number:0500}"), bare=True)
        assert tally.sure == number
