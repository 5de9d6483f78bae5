"""Counting finds each call and each other record once, in the slot in which it was made, on both databases."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pytest

from mcpguard.codec.filters import parse
from mcpguard.domain.filters import ALL_RECORDS, FilterKey
from mcpguard.store.engine.store import Store
from mcpguard.store.rows.records import COLUMNS
from mcpguard.store.search import record_counts
from mcpguard.store.search.record_counts import RecordCounts, counts_openings
from tests.store.searched import FILTERS, Row, add_records, ask, rows

ENDS = ("opened", "closed")
pytestmark = pytest.mark.anyio


def counting(text: str, fitting: Iterable[Row]) -> Iterator[Row]:
    """Those that count: of every call its closing or its opening."""
    left_out = "closed" if counts_openings(parse(text, 0)) else "opened"
    return (row for row in fitting if row["kind"] != left_out)


def word(row: Row) -> str:
    """How a call went; nothing of other records."""
    return row[{"closed": "outcome", "opened": "verdict"}.get(row["kind"], "")] or "" if row["kind"] in ENDS else ""


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
        expected = Counter((row["at"] // grain, word(row)) for row in counting(text, filter(fits, indexed)))
        found = await counted(store, text, grain)
        assert (found.slots, found.ended) == (expected, True), text


async def test_what_it_had_no_time_for_is_not_counted_and_that_is_said(
    store: Store, indexed: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_counts, "FIRST_WINDOW", 20)
    for text, fits in FILTERS.items():
        found = await counted(store, text, patient=False)
        fitting = (row for row in indexed if fits(row) and row["seq"] >= found.reached)
        newer = Counter((row["at"] // 10, word(row)) for row in counting(text, fitting))
        assert found.slots == newer, text
        before = [row["seq"] for row in indexed if fits(row) and row["seq"] < found.reached]
        assert not found.ended or not before, text
    assert (await counted(store, "", patient=False)).reached == 101
    assert not (await counted(store, "", patient=False)).ended


async def test_each_term_says_how_many_calls_it_would_leave(store: Store, indexed: list[dict[str, Any]]) -> None:
    for text in ("", "server:files", "verdict:deny", "kind:decided", "-kind:closed"):
        found = await counted(store, text)
        calls = [row for row in counting(text, filter(FILTERS[text], indexed)) if word(row)]
        for key in (FilterKey.SERVER, FilterKey.CALLER, FilterKey.REASON):
            expected = Counter(row[key.value] for row in calls if row[key.value] is not None)
            assert {value: n for (of, value), n in found.terms.items() if of is key} == expected, (text, key)
        results = sum(n for (of, _), n in found.terms.items() if of in (FilterKey.OUTCOME, FilterKey.VERDICT))
        assert results == len(calls) == sum(n for (_, word), n in found.slots.items() if word)
        named = [row for row in calls if row["capability"] == "tool" and row["server"] and row["name"]]
        tools = Counter(f"{row['server']}:{row['name']}" for row in named)
        assert {value: n for (of, value), n in found.terms.items() if of is FilterKey.TOOL} == tools, text


async def test_a_call_counts_once_for_a_text_in_either_of_its_records(store: Store) -> None:
    said = {
        1: {"kind": "opened", "entry": "a", "verdict": "allow", "intent_reason": "for the invoice"},
        2: {"kind": "closed", "entry": "a", "outcome": "answered"},
        3: {"kind": "opened", "entry": "b", "verdict": "allow", "server": "invoice"},
        4: {"kind": "closed", "entry": "b", "outcome": "failed", "server": "invoice"},
        5: {"kind": "decided", "why": "an invoice"},
    }
    made = [
        dict.fromkeys(COLUMNS)
        | {name: value for name, value in each.items() if name in COLUMNS}
        | {"chain": "a", "seq": seq, "at": seq, "hash": b"h", "content": json.dumps(each).replace(": ", ":").encode()}
        for seq, each in said.items()
    ]
    await store.writer.submit(lambda connection: add_records(connection, made))
    found = await counted(store, "invoice", 1000)
    assert found.slots == {(0, "allow"): 1, (0, "failed"): 1, (0, ""): 1}


async def test_what_was_pruned_does_not_count(store: Store) -> None:
    gone = dict.fromkeys(COLUMNS) | {"chain": "a", "seq": 1, "hash": b"h", "content": None}
    kept = rows(2)[1] | {"kind": "decided"}
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
