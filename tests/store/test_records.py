"""Records, bodies and checkpoints come back as they were stored, on both databases."""

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import Connection

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine.schema import upgrade
from mcpguard.store.engine.sqlite import SQLite
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import checkpoints, records
from mcpguard.store.rows.checkpoints import StoredCheckpoint
from mcpguard.store.rows.records import COLUMNS, StoredBody
from tests.store.searched import add_bodies, add_records

pytestmark = pytest.mark.anyio
T = TypeVar("T")


def row(seq: int, kind: str = "started", entry: str | None = None, chain: str = "a") -> dict[str, object]:
    given = {
        "chain": chain,
        "seq": seq,
        "at": seq * 10,
        "kind": kind,
        "entry": entry,
        "content": b"\x00\xff",
        "hash": b"h",
    }
    return dict.fromkeys(COLUMNS) | given


async def put(store: Store, *rows: dict[str, object]) -> None:
    await store.writer.submit(lambda connection: add_records(connection, rows))


async def ask(store: Store, question: Callable[[Connection], T]) -> T:
    return await store.readers.run(question)


@pytest.mark.parametrize("page", [1, 2, 3, 1000])
async def test_a_walk_gives_every_record_once_and_in_order(store: Store, page: int) -> None:
    await put(store, *(row(seq) for seq in (3, 1, 5, 2, 4)), row(1, chain="b"))
    found = await ask(store, lambda c: list(records.walk(c, "a", 4, page)))
    assert [record.seq for record in found] == [1, 2, 3, 4]
    assert (found[0].content, found[0].hash) == (b"\x00\xff", b"h")
    assert found[0].columns[: COLUMNS.index("kind")] == ("a", 1, 10)


async def test_the_last_one_and_the_last_of_a_kind(store: Store) -> None:
    assert await ask(store, lambda c: records.last_record(c, "a")) is None
    await put(store, row(1), row(2), row(3, "stopped"))
    assert await ask(store, lambda c: records.last_record(c, "a")) == (3, b"h")
    assert await ask(store, lambda c: records.last_of_kind(c, "a", "started")) == 2
    assert await ask(store, lambda c: records.last_of_kind(c, "a", "pruned")) == 0


async def test_open_entries_are_those_without_a_closing(store: Store) -> None:
    await put(store, row(1, "opened", "x"), row(2, "opened", "y"), row(3, "closed", "x"), row(4, "opened", "z"))
    assert await ask(store, lambda c: records.open_entries(c, "a")) == ["y", "z"]
    assert await ask(store, lambda c: records.open_entries(c, "a", since=2)) == ["z"]


@pytest.mark.parametrize("kind", ["opened", "closed"])
async def test_the_database_itself_refuses_a_second_opening_or_closing(store: Store, kind: str) -> None:
    await put(store, row(1, kind, "x"))
    with pytest.raises(StoreUnavailable):
        await put(store, row(2, kind, "x"))
    await put(store, row(2, "released", "x"), row(3, "released", "x"))
    assert await ask(store, lambda c: records.last_record(c, "a")) == (3, b"h")


async def test_a_number_is_given_once(store: Store) -> None:
    await put(store, row(1))
    with pytest.raises(StoreUnavailable):
        await put(store, row(1))


@pytest.mark.parametrize("page", [1, 50])
async def test_bodies_and_tombstones_of_bodies(store: Store, page: int) -> None:
    rows = [
        {"chain": "a", "seq": 1, "salt": b"s", "content": b""},
        {"chain": "a", "seq": 2, "salt": None, "content": None},
        {"chain": "a", "seq": 9, "salt": b"s", "content": b"\x00" * 100_000},
    ]
    await store.writer.submit(lambda connection: add_bodies(connection, rows))
    found = await ask(store, lambda c: list(records.walk_bodies(c, "a", 9, page)))
    assert found == [StoredBody(1, b"s", b""), StoredBody(2, None, None), StoredBody(9, b"s", b"\x00" * 100_000)]


async def test_the_body_of_an_entry_is_found_by_its_kind(store: Store) -> None:
    await put(store, row(1, "opened", "x"), row(2, "opened", "y"), row(3, "closed", "x"), row(1, "opened", "w", "b"))
    rows = [
        {"chain": chain, "seq": seq, "salt": b"s" if body else None, "content": body}
        for chain, seq, body in (("a", 1, b"body 1"), ("a", 3, b"body 3"), ("b", 1, None))
    ]
    await store.writer.submit(lambda connection: add_bodies(connection, rows))
    found = [
        ("a", "x", "opened"),
        ("a", "x", "closed"),
        ("a", "y", "opened"),
        ("b", "w", "opened"),
        ("a", "z", "opened"),
    ]
    bodies = [await ask(store, lambda c, of=of: records.body_of(c, *of)) for of in found]  # type: ignore[misc]
    assert bodies == [b"body 1", b"body 3", None, None, None]


@pytest.mark.parametrize("page", [1, 50])
async def test_checkpoints(store: Store, page: int) -> None:
    made = [StoredCheckpoint(seq, b"content", b"signature") for seq in (1, 4, 9)]
    for checkpoint in made:
        await store.writer.submit(partial(checkpoints.add, chain="a", checkpoint=checkpoint))
    assert await ask(store, lambda c: list(checkpoints.walk(c, "a", 8, page))) == made[:2]
    assert await ask(store, lambda c: checkpoints.last_checkpoint(c, "a")) == made[-1]
    assert await ask(store, lambda c: checkpoints.last_checkpoint(c, "b")) is None


async def test_every_chain_that_anything_names_is_found(store: Store) -> None:
    body = {"chain": "c", "seq": 1, "salt": None, "content": None}
    await put(store, row(1), row(1, chain="b"), row(2, chain="b"))
    await store.writer.submit(lambda connection: add_bodies(connection, [body]))
    await store.writer.submit(lambda c: checkpoints.add(c, "d", StoredCheckpoint(1, b"", b"")))
    assert await ask(store, records.chains_named) == {"a", "b", "c", "d"}


def test_finding_open_entries_takes_work_in_proportion_to_the_entries(tmp_path: Path) -> None:
    """Once it looked through the whole table for every opening, and a start after a crash would have taken hours."""

    def work(entries: int) -> int:
        backend = SQLite(tmp_path / f"{entries}.db", busy_timeout=1)
        upgrade(backend)
        with backend.connect() as connection:
            both = (
                row(2 * n + at, kind, f"e{n}")
                for n in range(1, entries)
                for at, kind in enumerate(("opened", "closed"))
            )
            add_records(connection, list(both))
            steps = itertools.count()
            driver: Any = connection.connection.dbapi_connection
            driver.set_progress_handler(lambda: next(steps) < 0, 100)
            assert records.open_entries(connection, "a") == []
        backend.dispose()
        return next(steps)

    assert work(2000) < 3 * work(1000)
