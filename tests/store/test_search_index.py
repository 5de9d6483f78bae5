"""The index of searches says of whole blocks what their records say, and nothing else, on both databases."""

from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, text

from mcpguard.codec.filters import parse
from mcpguard.store.engine.store import Store
from mcpguard.store.rows.records import COLUMNS
from mcpguard.store.search import record_search, search_index
from mcpguard.store.search.search_index import BLOCK, found_in_records, stored_in_index, stray_values
from tests.store.searched import add_records, ask, index, rows

pytestmark = pytest.mark.anyio


def row(seq: int, **said: object) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {"chain": "a", "seq": seq, "at": seq, "hash": b"h", "content": b"c"} | said


async def add(store: Store, some: list[dict[str, Any]]) -> None:
    await store.writer.submit(lambda connection: add_records(connection, some))


async def end(store: Store) -> int:
    return await ask(store, partial(search_index.edge, chain="a"))


def is_right(connection: Connection) -> bool:
    """Whether the index says what it has to say of the blocks that it has, and nothing else."""
    end = search_index.edge(connection, "a")
    there = stored_in_index(connection, "a", 0, end // BLOCK)
    return there == found_in_records(connection, "a", 0, end - 1) and not stray_values(connection, "a")


async def test_a_block_is_indexed_once_it_is_complete(store: Store) -> None:
    made = rows(5 * BLOCK)
    await add(store, made[: BLOCK + 3])
    await index(store, BLOCK - 2)
    assert await end(store) == 0
    await index(store, BLOCK + 3)
    assert await end(store) == BLOCK
    await add(store, made[BLOCK + 3 :])
    await index(store, 5 * BLOCK)
    await index(store, 5 * BLOCK)
    assert await end(store) == 5 * BLOCK
    assert await ask(store, is_right)


async def test_one_transaction_indexes_only_so_much(store: Store) -> None:
    many = search_index.AT_ONCE
    await add(store, [row(seq, server="files") for seq in range(1, 3 * many * BLOCK)])
    extend = partial(search_index.extend, chain="a", upto=3 * many * BLOCK - 1)
    assert await store.writer.submit(extend) == (3 * many * BLOCK - 1, True)
    assert await end(store) in ((many - 1) * BLOCK, many * BLOCK)


async def test_numbers_that_are_missing_stop_nothing(store: Store) -> None:
    there = [*range(10, 20), *range(70, 75), *range(40 * BLOCK, 46 * BLOCK)]
    await add(store, [row(seq, server=f"server-{seq % 3}") for seq in there])
    await index(store, 46 * BLOCK)
    assert await end(store) == 46 * BLOCK
    assert await ask(store, is_right)


async def test_what_was_pruned_is_not_named_any_more(store: Store) -> None:
    """Names of callers and tools are removed with the records that had them."""
    made = [row(seq, server=f"server-{seq // 50}", kind="asked") for seq in range(1, 6 * BLOCK)]
    await add(store, made)
    await index(store, 5 * BLOCK)
    for first, last in ((30, 100), (101, 4 * BLOCK)):
        await store.writer.submit(partial(search_index.empty_records, chain="a", first=first, last=last))
        assert await ask(store, is_right)
    named = await ask(store, lambda connection: {*connection.scalars(text("SELECT value FROM search_values"))})
    assert named == {"asked", "server-0", "server-5", "server-6"}
    await index(store, 6 * BLOCK)
    assert await ask(store, is_right)
    look = partial(record_search.search, chain="a", wanted=parse("server:server-0", 0), start=None, limit=100)
    found = await ask(store, partial(look, newest_first=True))
    assert [record.seq for record in found.records] == [*range(29, 0, -1)]


async def test_a_search_reads_only_where_the_index_leads(store: Store) -> None:
    await add(store, [row(seq, server="rare" if seq == 700 else "files") for seq in range(1, 30 * BLOCK)])
    await index(store, 30 * BLOCK)
    await store.writer.submit(
        lambda connection: connection.execute(text("UPDATE records SET server = 'rare' WHERE seq = 100")).close()
    )
    look = partial(record_search.search, chain="a", wanted=parse("server:rare", 0), start=None, limit=100)
    found = await ask(store, partial(look, newest_first=False))
    assert [record.seq for record in found.records] == [700], "it did not look at what the index does not name"
