"""Looking for records finds exactly those that fit, in order, however it is cut into pages, on both databases."""

from functools import partial
from typing import Any

import pytest

from mcpguard.codec.filters import parse
from mcpguard.domain.filters import ALL_RECORDS, Filter
from mcpguard.store.engine.store import Store
from mcpguard.store.rows.records import COLUMNS
from mcpguard.store.search import record_search
from tests.store.searched import FILTERS, add_records, ask, rows

pytestmark = pytest.mark.anyio


async def whole(store: Store, wanted: Filter, limit: int, *, newest_first: bool, patient: bool = True) -> list[int]:
    """All that is found, page by page."""
    found, start = list[int](), None
    for _ in range(1000):
        look = partial(
            record_search.search,
            chain="a",
            wanted=wanted,
            start=start,
            limit=limit,
            newest_first=newest_first,
            patience=lambda: patient,
        )
        page = await ask(store, look)
        found += [record.seq for record in page.records]
        if page.ended:
            return found
        assert page.reached != start, "it gets on"
        start = page.reached
    raise AssertionError("there is no end")


@pytest.mark.parametrize("window", [11, 20_000])
async def test_exactly_what_fits_is_found(
    store: Store, indexed: list[dict[str, Any]], window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_search, "FIRST_WINDOW", window)
    for text, fits in FILTERS.items():
        expected = [row["seq"] for row in indexed if fits(row)]
        assert expected or text in ("call:nothing", "until:1970-01-01"), text
        wanted = parse(text, 0)
        for limit, patient in ((1000, True), (9, False)):
            found = await whole(store, wanted, limit, newest_first=False, patient=patient)
            assert found == expected, text
            found = await whole(store, wanted, limit, newest_first=True, patient=patient)
            assert found == expected[::-1], text


async def test_no_more_of_the_newest_are_looked_through_than_is_said(
    store: Store, indexed: list[dict[str, Any]]
) -> None:
    last = max(row["seq"] for row in indexed)
    for among in (1, 7, last, 3 * last):
        look = partial(record_search.search, chain="a", wanted=ALL_RECORDS, start=None, limit=1000, newest_first=True)
        found = [record.seq for record in (await ask(store, partial(look, among=among))).records]
        assert found == [row["seq"] for row in indexed if row["seq"] > last - among][::-1]


async def test_what_comes_later_is_found_from_where_it_ended(store: Store) -> None:
    made = rows(20)
    look = partial(record_search.search, chain="a", wanted=parse("server:*", 0), limit=100, newest_first=False)
    assert (await ask(store, partial(look, start=None))).reached == 0
    await store.writer.submit(lambda connection: add_records(connection, made[:10]))
    page = await ask(store, partial(look, start=None))
    assert (page.reached, page.ended) == (10, True)
    await store.writer.submit(lambda connection: add_records(connection, made[10:]))
    more = await ask(store, partial(look, start=page.reached))
    expected = [row["seq"] for row in made if row["server"] is not None]
    assert [record.seq for record in (*page.records, *more.records)] == expected
    assert (await ask(store, partial(look, start=1000))).reached == 1000


async def test_what_was_pruned_fits_only_where_nothing_is_asked(store: Store) -> None:
    gone = dict.fromkeys(COLUMNS) | {"chain": "a", "seq": 1, "hash": b"h", "content": None}
    await store.writer.submit(lambda connection: add_records(connection, [gone, rows(2)[1]]))
    assert await whole(store, ALL_RECORDS, 10, newest_first=False) == [1, 2]
    for text in ("-server:x", "since:1970-01-01"):
        assert 1 not in (await whole(store, parse(text, 0), 10, newest_first=False)) or text.startswith("-")


async def test_all_of_a_call_is_found(store: Store, filled: list[dict[str, Any]]) -> None:
    for entry in ("e-3", "e-37", "nothing"):
        found = await ask(store, partial(record_search.call_records, chain="a", entry=entry))
        assert [record.seq for record in found] == [row["seq"] for row in filled if row["entry"] == entry]
    assert (await ask(store, partial(record_search.record_at, chain="a", seq=5))) is not None
    assert await ask(store, partial(record_search.record_at, chain="a", seq=121)) is None
