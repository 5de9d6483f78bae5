"""Searches for the records that match a filter, newest or oldest first, page by page.

Rules kept here:
1. Work is limited for every filter: a page reads windows of numbers, each larger than the previous one, until it is
   full or its time is up. The next page continues there.
2. The order is that of the numbers, so a cursor is a number, and no record is returned twice or left out.
3. A time filter is compared with every record: clocks can be set back, so times need not ascend with the numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, func, select

from mcpguard.domain.filters import Filter
from mcpguard.store.rows.filter_conditions import Conditions, conditions, numbers_of_call, times
from mcpguard.store.rows.records import WHOLE, StoredRecord, stored_record
from mcpguard.store.rows.tables import records

FIRST_WINDOW: Final = 20_000
GROWS: Final = 4


@dataclass(frozen=True, slots=True)
class FoundRecords:
    """Matching records in the requested order. `reached`: the last number that was checked; `ended`: whether no record
    beyond it can match."""

    records: Sequence[StoredRecord]
    reached: int
    ended: bool


def search(
    connection: Connection,
    chain: str,
    wanted: Filter,
    *,
    start: int | None,
    limit: int,
    newest_first: bool,
    upto: int | None = None,
    patience: Callable[[], bool] = lambda: True,
) -> FoundRecords:
    """Return up to `limit` records beyond the number `start` (None: from the end, or the beginning), none beyond
    `upto`. After each window `patience` is asked whether there is time for another."""
    span = _span(connection, chain, wanted)
    if span is None:
        return FoundRecords((), start or 0, ended=True)
    low, high = span[0], span[1] if upto is None else min(span[1], upto)
    if newest_first:
        high = high if start is None else min(high, start - 1)
    else:
        low = low if start is None else max(low, start + 1)
    fits = conditions(connection, chain, wanted)
    found: list[StoredRecord] = []
    reached = start or 0
    for first, last in windows(low, high, FIRST_WINDOW, GROWS, newest_first=newest_first):
        found += _rows(connection, fits, first, last, limit - len(found), newest_first=newest_first)
        if len(found) == limit:
            return FoundRecords(found, found[-1].seq, ended=found[-1].seq == (low if newest_first else high))
        reached = first if newest_first else last
        if not patience():
            return FoundRecords(found, reached, ended=reached == (low if newest_first else high))
    return FoundRecords(found, reached, ended=True)


def call_records(connection: Connection, chain: str, entry: str) -> list[StoredRecord]:
    """Return all records of a call, in order."""
    mine = records.c.chain == chain, records.c.seq.in_(numbers_of_call(connection, entry))
    return [stored_record(row) for row in connection.execute(select(*WHOLE).where(*mine).order_by(records.c.seq))]


def record_at(connection: Connection, chain: str, seq: int) -> StoredRecord | None:
    """Return the record with this number."""
    row = connection.execute(select(*WHOLE).where(records.c.chain == chain, records.c.seq == seq)).first()
    return None if row is None else stored_record(row)


def _rows(
    connection: Connection, fits: Conditions, first: int, last: int, limit: int, *, newest_first: bool
) -> list[StoredRecord]:
    order = records.c.seq.desc() if newest_first else records.c.seq
    window = (
        select(*WHOLE).where(*fits.every, records.c.seq >= first, records.c.seq <= last).order_by(order).limit(limit)
    )
    found = {row.seq: row for each in fits.either for row in map(stored_record, connection.execute(window.where(each)))}
    return [found[seq] for seq in sorted(found, reverse=newest_first)[:limit]]


def _span(connection: Connection, chain: str, wanted: Filter) -> tuple[int, int] | None:
    """Return the lowest and the highest number that can match; None if none can."""
    ends = func.min(records.c.seq), func.max(records.c.seq)
    mine = [records.c.chain == chain, *times(wanted)]
    if len(mine) > 1:
        low, high = connection.execute(select(*ends).where(*mine)).one()
    else:  # one query for each: a database then finds them in the index without reading all rows
        low, high = (connection.scalar(select(end).where(*mine)) for end in ends)
    return None if low is None else (low, high)


def windows(low: int, high: int, size: int, grows: int, *, newest_first: bool) -> Iterator[tuple[int, int]]:
    """Yield windows of the numbers from `low` to `high`: the first of `size`, each next `grows` times as large."""
    while low <= high:
        if newest_first:
            yield max(low, high - size + 1), high
            high -= size
        else:
            yield low, min(high, low + size - 1)
            low += size
        size *= grows
