"""Each call is found once, where its first record that fits is, with what tells how it went, on both databases."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from mcpguard.codec.filters import parse
from mcpguard.store.engine.store import Store
from mcpguard.store.search import record_search
from mcpguard.store.search.call_search import FIRST, LATER, FoundRows, calls_of, search_calls
from tests.store.searched import FILTERS, add_records, ask, rows

pytestmark = pytest.mark.anyio
SOME = ("", "server:files", "verdict:deny", "-kind:closed", "outcome:refused effect:destructive", "call:e-3")
Rows = Sequence[Mapping[str, Any]]


def standing(fitting: Rows) -> list[int]:
    """The numbers of records that are no calls, and of the first record of each call."""
    first: dict[str, int] = {}
    found = list[int]()
    for row in fitting:
        call = row["entry"] if row["kind"] in FIRST | LATER else None
        if row["kind"] in LATER and call in first:
            continue
        first.setdefault(str(call), row["seq"])
        found.append(row["seq"])
    return found


async def pages(store: Store, text: str, limit: int, *, newest_first: bool, patient: bool) -> list[FoundRows]:
    found, start = list[FoundRows](), None
    while not found or not found[-1].ended:
        look = partial(search_calls, chain="a", wanted=parse(text, 0), start=start, limit=limit)
        page = await ask(store, partial(look, newest_first=newest_first, patience=lambda: patient))
        assert page.reached != start, "it gets on"
        found.append(page)
        start = page.reached
    return found


@pytest.mark.parametrize("window", [11, 20_000])
async def test_each_call_is_found_once_however_it_is_cut_into_pages(
    store: Store, indexed: list[dict[str, Any]], window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_search, "FIRST_WINDOW", window)
    for text in SOME:
        expected = standing([row for row in indexed if FILTERS[text](row)])
        for limit, patient in ((1000, True), (9, False)):
            for newest_first in (True, False):
                seen = await pages(store, text, limit, newest_first=newest_first, patient=patient)
                numbers = [row.record.seq for page in seen for row in page.rows]
                assert numbers == (expected[::-1] if newest_first else expected), (text, limit)
                assert all(len(page.rows) <= limit for page in seen)


async def test_a_row_has_what_tells_how_its_call_went(store: Store, filled: list[dict[str, Any]]) -> None:
    telling = ("opened", "closed", "released", "ran", "ended_run")
    for page in await pages(store, "", 9, newest_first=True, patient=True):
        for row in page.rows:
            own = filled[row.record.seq - 1]
            same = [each for each in filled if each["entry"] is not None and each["entry"] == own["entry"]]
            if own["kind"] not in FIRST | LATER or own["entry"] is None:
                assert row.call == {}
            else:
                assert {kind: each.seq for kind, each in row.call.items()} == {
                    each["kind"]: each["seq"] for each in same if each["kind"] in telling
                }
    assert await ask(store, partial(calls_of, chain="a", entries=["nothing"])) == {}


async def test_upwards_it_tells_which_earlier_calls_went_on(store: Store) -> None:
    made = [row | {"entry": f"e-{row['seq'] % 3}" if row["seq"] < 7 else None} for row in rows(8)]
    kinds = (*["opened"] * 3, *["closed"] * 3, "listed", "moved")
    for row, kind in zip(made, kinds, strict=True):
        row["kind"] = kind
    await store.writer.submit(lambda connection: add_records(connection, made))
    look = partial(search_calls, chain="a", wanted=parse("", 0), limit=100, newest_first=False)
    page = await ask(store, partial(look, start=4))
    assert [row.record.seq for row in page.rows] == [7, 8]
    assert [(row.call["opened"].seq, row.call["closed"].seq) for row in page.went_on] == [(2, 5), (3, 6)]
    assert (await ask(store, partial(look, start=None))).went_on == []
