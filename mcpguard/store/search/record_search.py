"""Searches for the records that match a filter, newest or oldest first, page by page.

Rules kept here:
1. Work is limited for every filter: a page reads windows of numbers, each larger than the previous one, and in each the
   blocks of records that the index names, until it is full or its time is up. The next page continues there. What is
   not indexed yet is read, too: a record is found as soon as it is stored.
2. The order is that of the numbers, so a cursor is a number, and no record is returned twice or left out.
3. A time filter is compared with every record: clocks can be set back, so times need not ascend with the numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, select

from mcpguard.domain.filters import Filter
from mcpguard.store.rows.records import WHOLE, StoredRecord, stored_record
from mcpguard.store.rows.tables import records
from mcpguard.store.search.filter_conditions import Conditions, numbers_of_call

FIRST_WINDOW: Final = 20_000
GROWS: Final = 4
TEXT_WINDOW: Final = 4_000
"""Records of a window whose content is read."""


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
    among: int | None = None,
    patience: Callable[[], bool] = lambda: True,
) -> FoundRecords:
    """Return up to `limit` records beyond the number `start` (None: from the end, or the beginning), none beyond
    `upto`, and only of the newest `among` that may match. After each query `patience` is asked whether there is time
    for another."""
    fits = Conditions(connection, chain, wanted)
    span = fits.span()
    if span is None:
        return FoundRecords((), start or 0, ended=True)
    low, high = span[0], span[1] if upto is None else min(span[1], upto)
    low = low if among is None else max(low, high - among + 1)
    if newest_first:
        high = high if start is None else min(high, start - 1)
    else:
        low = low if start is None else max(low, start + 1)
    end = low if newest_first else high
    order = records.c.seq.desc() if newest_first else records.c.seq
    within = records.c.seq.between(bindparam("first"), bindparam("last"))
    query = select(*WHOLE).where(*fits.every(), within).order_by(order).limit(bindparam("most"))
    found: list[StoredRecord] = []
    reached = start or 0
    for first, last in windows(low, high, *pace(fits, FIRST_WINDOW, GROWS), newest_first=newest_first):
        for one in fits.ranges(first, last)[:: -1 if newest_first else 1]:
            most = {"first": one[0], "last": one[1], "most": limit - len(found)}
            found += map(stored_record, connection.execute(query, most))
            if len(found) == limit:
                return FoundRecords(found, found[-1].seq, ended=found[-1].seq == end)
            reached = one[0] if newest_first else one[1]
            if not patience():
                return FoundRecords(found, reached, ended=reached == end)
        reached = first if newest_first else last
        if not patience():
            return FoundRecords(found, reached, ended=reached == end)
    return FoundRecords(found, reached, ended=True)


def call_records(connection: Connection, chain: str, entry: str) -> list[StoredRecord]:
    """Return all records of a call, in order."""
    mine = records.c.chain == chain, records.c.seq.in_(numbers_of_call(connection, entry))
    return [stored_record(row) for row in connection.execute(select(*WHOLE).where(*mine).order_by(records.c.seq))]


def record_at(connection: Connection, chain: str, seq: int) -> StoredRecord | None:
    """Return the record with this number."""
    row = connection.execute(select(*WHOLE).where(records.c.chain == chain, records.c.seq == seq)).first()
    return None if row is None else stored_record(row)


def pace(fits: Conditions, size: int, grows: int) -> tuple[int, int]:
    """Return the size of the first window, and how much larger each next one is. Where every record is compared, or its
    content is read, windows do not grow, so that a search stops in time."""
    if fits.reads_texts:
        return min(size, TEXT_WINDOW), 1
    return size, 1 if fits.reads_all else grows


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
