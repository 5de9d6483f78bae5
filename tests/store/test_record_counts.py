"""Counting finds exactly as many as looking does, in the slots in which they were made, on both databases."""

from collections import Counter
from functools import partial
from typing import Any

import pytest

from mcpguard.codec.filters import parse
from mcpguard.domain.filters import ALL_RECORDS
from mcpguard.store.engine.store import Store
from mcpguard.store.rows.records import COLUMNS
from mcpguard.store.search import record_counts
from mcpguard.store.search.record_counts import RecordCounts
from tests.store.searched import FILTERS, add_records, ask, rows

pytestmark = pytest.mark.anyio


async def counted(store: Store, text: str, grain: int = 10, *, patient: bool = True) -> RecordCounts:
    return await ask(
        store,
        partial(record_counts.count, chain="a", wanted=parse(text, 0), grain=grain, patience=lambda: patient),
    )


@pytest.mark.parametrize("window", [7, 5_000])
@pytest.mark.parametrize("grain", [1, 10, 1000])
async def test_each_that_fits_counts_once_in_its_slot(
    store: Store, indexed: list[dict[str, Any]], window: int, grain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_counts, "FIRST_WINDOW", window)
    for text, fits in FILTERS.items():
        expected = Counter((row["at"] // grain, row["verdict"] or "") for row in indexed if fits(row))
        found = await counted(store, text, grain)
        assert (found.slots, found.ended) == (expected, True), text


async def test_what_it_had_no_time_for_is_not_counted_and_that_is_said(
    store: Store, indexed: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_counts, "FIRST_WINDOW", 20)
    for text, fits in FILTERS.items():
        found = await counted(store, text, patient=False)
        newer = Counter(
            (row["at"] // 10, row["verdict"] or "") for row in indexed if fits(row) and row["seq"] >= found.reached
        )
        assert found.slots == newer, text
        before = [row["seq"] for row in indexed if fits(row) and row["seq"] < found.reached]
        assert not found.ended or not before, text
    assert (await counted(store, "", patient=False)).reached == 101
    assert not (await counted(store, "", patient=False)).ended


async def test_what_was_pruned_does_not_count(store: Store) -> None:
    gone = dict.fromkeys(COLUMNS) | {"chain": "a", "seq": 1, "hash": b"h", "content": None}
    kept = rows(2)[1]
    await store.writer.submit(lambda connection: add_records(connection, [gone, kept]))
    found = await counted(store, "")
    assert sum(found.slots.values()) == 1
    assert found.ended
    made = await ask(store, partial(record_counts.made_at, chain="a", seq=1))
    assert made == kept["at"]
    assert await ask(store, partial(record_counts.made_at, chain="a", seq=3)) is None


async def test_nothing_is_counted_in_nothing(store: Store) -> None:
    for text in ("", "since:1d", "until:1d", "server:x"):
        assert await counted(store, text) == RecordCounts({}, 1, ended=True), text
    assert await ask(store, partial(record_counts.count, chain="b", wanted=ALL_RECORDS, grain=1)) == RecordCounts(
        {}, 1, ended=True
    )
