"""The writer's rules, on both databases."""

import asyncio
import threading

import anyio
import pytest
from sqlalchemy import Connection, text

from mcpguard.domain.errors import GuardError, StoreUnavailable
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import chains
from tests.store.tally import Tally

pytestmark = pytest.mark.anyio


class Stale(GuardError):
    """Some refusal of a job."""


async def names(store: Store) -> list[str]:
    return sorted(await store.readers.run(chains.list_chains))


async def test_a_job_returns_what_it_returns_and_readers_see_it(store: Store, tally: Tally) -> None:
    def job(connection: Connection) -> str:
        tally.add(connection, "one")
        return "done"

    assert await store.writer.submit(job, Durability.SYNCED) == "done"
    assert await names(store) == ["one"]


async def test_a_job_that_fails_takes_back_its_own_changes_and_no_others(store: Store, tally: Tally) -> None:
    def refuse(connection: Connection) -> None:
        tally.add(connection, "refused")
        raise Stale

    failed: list[type[Exception]] = []

    async def expect_refusal() -> None:
        try:
            await store.writer.submit(refuse)
        except Stale as error:
            failed.append(type(error))

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(store.writer.submit, lambda c, n=number: tally.add(c, f"kept-{n:02}"))
            tasks.start_soon(expect_refusal)

    assert failed == [Stale] * 20
    assert await names(store) == [f"kept-{number:02}" for number in range(20)]
    assert tally.sure == 20


async def test_an_error_of_the_database_is_told_without_the_statement(store: Store, tally: Tally) -> None:
    def twice(connection: Connection) -> None:
        tally.add(connection, "same")
        tally.add(connection, "same")

    with pytest.raises(StoreUnavailable) as caught:
        await store.writer.submit(twice)
    assert "INSERT" not in str(caught.value)
    assert await names(store) == []
    assert tally.counted is None, "what is stored is found out anew"
    await store.writer.submit(lambda _: None)
    assert tally.counted == 0


async def test_a_bare_job_that_fails_fails_its_batch_and_the_next_batch_works(store: Store, tally: Tally) -> None:
    def bare(connection: Connection) -> None:
        tally.add(connection, "doomed")
        raise ZeroDivisionError

    with pytest.raises(StoreUnavailable, match="ZeroDivisionError"):
        await store.writer.submit(bare, bare=True)
    await store.writer.submit(lambda connection: tally.add(connection, "next"))
    assert await names(store) == ["next"]
    assert tally.sure == 1


async def test_what_is_queued_together_is_stored_together(store: Store, tally: Tally) -> None:
    begun, go = threading.Event(), threading.Event()
    transactions: list[object] = []

    def occupy(_: Connection) -> None:
        begun.set()
        go.wait()

    def job(connection: Connection) -> None:
        transactions.append(connection.get_transaction())
        tally.add(connection, f"chain-{len(transactions)}")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store.writer.submit, occupy)
        await anyio.to_thread.run_sync(begun.wait)  # what is queued from now on is not in its batch
        for _ in range(30):
            tasks.start_soon(store.writer.submit, job)
        await anyio.wait_all_tasks_blocked()
        go.set()

    assert len(transactions) == 30
    assert len(set(map(id, transactions))) == 1


async def test_a_cancelled_waiter_learns_of_it_after_its_job_is_stored(store: Store, tally: Tally) -> None:
    go, stored, after = threading.Event(), False, False

    def job(connection: Connection) -> None:
        go.wait()
        tally.add(connection, "cancelled")

    async def waiter() -> None:
        nonlocal stored, after
        await store.writer.submit(job)
        stored = True
        await anyio.sleep_forever()
        after = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiter)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
        go.set()

    assert (stored, after) == (True, False)
    assert await names(store) == ["cancelled"]


async def test_the_same_when_asyncio_itself_cancels_the_task_again_and_again(store: Store, tally: Tally) -> None:
    go, stored = threading.Event(), False

    def job(connection: Connection) -> None:
        go.wait()
        tally.add(connection, "cancelled")

    async def waiter() -> None:
        nonlocal stored
        await store.writer.submit(job)
        stored = True
        await asyncio.sleep(3600)

    task = asyncio.get_running_loop().create_task(waiter())
    for _ in range(3):
        await anyio.wait_all_tasks_blocked()
        task.cancel()
    await anyio.wait_all_tasks_blocked()
    assert not task.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stored
    assert await names(store) == ["cancelled"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_writer_whose_thread_died_refuses_everyone(store: Store, tally: Tally) -> None:
    def die(_: Connection) -> None:
        raise SystemExit

    refused: list[str] = []

    async def expect_refusal() -> None:
        try:
            await store.writer.submit(lambda connection: tally.add(connection, "never"))
        except StoreUnavailable as error:
            refused.append(str(error))

    async with anyio.create_task_group() as tasks:
        with pytest.raises(StoreUnavailable):
            await store.writer.submit(die, bare=True)
        for _ in range(5):
            tasks.start_soon(expect_refusal)

    assert refused == ["the writer has stopped"] * 5
    assert await names(store) == []


async def test_readers_cannot_write(store: Store) -> None:
    with pytest.raises(StoreUnavailable):
        await store.readers.run(lambda connection: chains.begin(connection, "sneaked in", 0))
    assert await names(store) == []


async def test_a_reader_that_fails_does_not_spoil_the_next(store: Store) -> None:
    for _ in range(5):
        with pytest.raises(StoreUnavailable):
            await store.readers.run(lambda connection: connection.execute(text("SELECT nonsense")))
    assert await names(store) == []
