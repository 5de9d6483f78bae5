"""Calls are counted once each, whenever they are counted, on both databases."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from mcpguard.domain.calls.counted_calls import KEPT, CountFilter, Grain
from mcpguard.guard.audit import call_counter, call_numbers
from mcpguard.guard.audit.call_counter import count_anew
from mcpguard.guard.audit.call_numbers import slot_plans
from mcpguard.store.counts import count_rows
from mcpguard.store.engine.store import Store
from mcpguard.store.search import search_index
from tests.store.called import CALLS, START, PlayedCall, counted, counted_by_hand, records_of
from tests.store.searched import add_records

SOME = st.lists(CALLS, max_size=25)
REPEATED = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
PLAIN = PlayedCall(0, "files", "read", "id-1", "allow", 0, "answered", 4000)


@contextmanager
def undone(connection: Connection) -> Iterator[None]:
    """Whatever the block does is undone after it."""
    savepoint = connection.begin_nested()
    try:
        yield
    finally:
        savepoint.rollback()


def count_up(connection: Connection, now: int = START) -> None:
    """Count whatever is not counted, as a guard does."""
    call_counter._count_rest(connection, "a", count_rows.kept_since(now), lambda _: None)


@REPEATED
@given(calls=SOME, cuts=st.lists(st.integers(0, 80), max_size=4), at_once=st.sampled_from([1, 3, 1000]))
def test_each_call_counts_once_wherever_counting_was_interrupted(
    connection: Connection, calls: Sequence[PlayedCall], cuts: Sequence[int], at_once: int
) -> None:
    records = records_of(calls)
    with undone(connection), pytest.MonkeyPatch.context() as patch:
        patch.setattr(call_counter, "AT_ONCE", at_once)
        done = 0
        for cut in sorted({*cuts, len(records)}):
            if records[done:cut]:
                add_records(connection, records[done:cut])
            done = max(done, min(cut, len(records)))
            count_up(connection)
            assert counted(connection)[0] == counted_by_hand(records[:done])
        before = counted(connection)
        assert before[2] == len(records)
        assert count_anew(connection, "a", START, lambda _: None) == len(records)
        assert counted(connection) == before


@REPEATED
@given(calls=SOME, cuts=st.lists(st.integers(0, 80), max_size=4), most=st.integers(1, 6))
def test_a_slot_has_room_for_so_many_rows_and_which_ones_does_not_depend_on_when_they_are_counted(
    connection: Connection, calls: Sequence[PlayedCall], cuts: Sequence[int], most: int
) -> None:
    records = records_of(calls)
    with undone(connection), pytest.MonkeyPatch.context() as patch:
        patch.setattr(count_rows, "MOST", most)
        done = 0
        for cut in sorted({*cuts, len(records)}):
            if records[done:cut]:
                add_records(connection, records[done:cut])
            done = max(done, min(cut, len(records)))
            count_up(connection)
        found = counted(connection)
        named = Counter(key[:3] for key in found[0] if key[4] and key[8])
        assert all(number <= most for number in named.values())
        assert by_outcome(found[0]) == by_outcome(counted_by_hand(records))
        assert sum(found[1].values()) == 6 * sum(
            call.verdict == "allow" and call.lasts is not None and call.took is not None for call in calls
        )
        count_anew(connection, "a", START, lambda _: None)
        assert counted(connection) == found


def by_outcome(rows: dict[tuple[Any, ...], int]) -> Counter[tuple[Any, ...]]:
    """The same without name and caller."""
    found = Counter[tuple[Any, ...]]()
    for (grain, detail, slot, server, _, _, *values), calls in rows.items():
        found[grain, detail, slot, server, *values] += calls
    return found


@REPEATED
@given(calls=st.lists(CALLS, min_size=1, max_size=25), share=st.floats(0, 1))
def test_counts_stay_when_records_are_pruned_and_counting_anew_keeps_them(
    connection: Connection, calls: Sequence[PlayedCall], share: float
) -> None:
    records = records_of([call for call in calls if call.pause >= 0])
    pruned = round(share * len(records))
    with undone(connection):
        if records:
            add_records(connection, records)
        count_up(connection)
        before = counted(connection)
        search_index.empty_records(connection, "a", 1, pruned)
        assert counted(connection) == before
        open_before = {record["entry"] for record in records[:pruned] if record["kind"] == "opened"}
        if not open_before & {record["entry"] for record in records[pruned:] if record["kind"] == "closed"}:
            count_anew(connection, "a", START, lambda _: None)
            assert counted(connection) == before


def test_what_somebody_else_has_counted_is_not_counted_again(connection: Connection) -> None:
    add_records(connection, records_of([PLAIN]))
    part = call_counter._uncounted(connection, "a")
    count_up(connection)
    before = counted(connection)
    since = count_rows.kept_since(START)
    assert not count_rows.store_changes(connection, "a", (part.before, part.upto), part.changes, since)
    assert counted(connection) == before


def test_slots_are_kept_for_so_long_and_removed_a_few_at_a_time(connection: Connection) -> None:
    day = PlayedCall(Grain.DAY, "files", "read", "id-1", "allow", 0, "answered", 4000)
    add_records(connection, records_of([day] * 800))
    count_up(connection, START)
    now = START + 800 * Grain.DAY
    rounds = 1
    while count_rows.remove_older(connection, "a", now):
        rounds += 1
    assert rounds > 1
    calls, durations, _ = counted(connection)
    for rows in (calls, durations):
        oldest = {grain: min(slot for of, _, slot, *_ in rows if of == grain) for grain in Grain}
        assert all(now - KEPT[grain] <= oldest[grain] <= now - KEPT[grain] + Grain.DAY for grain in Grain)
    assert sum(rows for (grain, *_), rows in calls.items() if grain == Grain.HOUR) == 2 * 35
    before = counted(connection)
    count_anew(connection, "a", now, lambda _: None)
    assert counted(connection) == before


def test_cells_that_mcpguard_never_writes_stop_nothing(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        pytest.skip("only SQLite has cells of any type")
    records = records_of([PLAIN] * 4)
    records[0] |= {"at": "yesterday"}
    records[3] |= {"server": b"files", "name": b"read"}
    records[7] |= {"content": b"\xff"}
    records[9] |= {"name": "x" * 10_000}
    add_records(connection, records)
    count_up(connection)
    calls, durations, upto = counted(connection)
    assert upto == len(records)
    names = {
        (server, name): rows for (*of, _, server, name, _, _, _, _, _), rows in calls.items() if of == [Grain.DAY, 1]
    }
    assert names == {("", ""): 1, ("files", "read"): 1, ("files", ""): 1}
    assert sum(durations.values()) == 12


@pytest.mark.anyio
async def test_sums_are_the_same_on_both_databases(store: Store) -> None:
    calls = [PlayedCall(60_000_000, server, "read", "id-1", "allow", 0, "failed", 4000) for server in ("files", "mail")]
    held = PlayedCall(0, "mail", "send", "id-2", "hold", None, "", None)
    made = records_of([*calls * 10, held])
    await store.writer.submit(lambda connection: add_records(connection, made))
    await store.writer.submit(count_up)
    now = START + Grain.HOUR
    look = partial(
        call_numbers._numbers, chain="a", plans=slot_plans(START, now, now), wanted=CountFilter(server="mail")
    )
    found = await store.readers.run(look)
    assert (found.sums.verdicts, found.sums.failed, found.sums.outcomes["held"]) == (
        {"allow": 10, "hold": 1, "deny": 0},
        10,
        1,
    )
    assert [(one.server, one.name, one.calls, one.failed) for one in found.tools] == [
        ("mail", "read", 10, 10),
        ("mail", "send", 1, 0),
    ]
    assert [one.caller for one in found.callers] == ["id-1", "id-2"]
    assert len([bar for bar in found.bars if bar.sums.calls]) == 10
    assert found.took.p95 is not None
    assert 4000 / 1.2 < found.took.p95 < 4000 * 1.2
    hour = now // Grain.HOUR * Grain.HOUR
    servers = await store.readers.run(partial(call_numbers._servers, chain="a", hour=hour))
    assert {name: its.calls for name, its in servers.servers.items()} == {"files": 10, "mail": 11}
    assert servers.counted.behind == 0
