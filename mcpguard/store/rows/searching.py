"""Looking for records: which rows fit a filter, newest or oldest first, some at a time.

Rules kept here:
1. Work is bounded, whatever is looked for: a page reads a window of numbers after the other, each larger than the one
   before, until it is full or its time is over. What it has not reached the next page reads.
2. The order is that of the sequence, so that a cursor is a number, and nothing comes twice or is left out.
3. A time is compared with every record's own. Clocks are set, so it says nothing of the sequence.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, func, select

from mcpguard.domain.filters import Filter
from mcpguard.store.rows.filtering import Conditions, conditions, of_call, times
from mcpguard.store.rows.records import WHOLE, StoredRecord, stored
from mcpguard.store.rows.tables import records

FIRST_WINDOW: Final = 20_000
GROWS: Final = 4


@dataclass(frozen=True, slots=True)
class FoundRecords:
    """Records in the order that was asked for. `reached`: the number that was looked at last; `ended`: whether there is
    nothing beyond it."""

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
    """Up to `limit` records beyond the number `start` (None: from the end, or the beginning), none of them beyond
    `upto`. Between two windows `patience` is asked whether there is time for another."""
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


def call(connection: Connection, chain: str, entry: str) -> list[StoredRecord]:
    """All that is recorded of a call, in order."""
    mine = records.c.chain == chain, records.c.seq.in_(of_call(connection, entry))
    return [stored(row) for row in connection.execute(select(*WHOLE).where(*mine).order_by(records.c.seq))]


def numbered(connection: Connection, chain: str, seq: int) -> StoredRecord | None:
    """The record of this number."""
    row = connection.execute(select(*WHOLE).where(records.c.chain == chain, records.c.seq == seq)).first()
    return None if row is None else stored(row)


def _rows(
    connection: Connection, fits: Conditions, first: int, last: int, limit: int, *, newest_first: bool
) -> list[StoredRecord]:
    order = records.c.seq.desc() if newest_first else records.c.seq
    window = (
        select(*WHOLE).where(*fits.every, records.c.seq >= first, records.c.seq <= last).order_by(order).limit(limit)
    )
    found = {row.seq: row for each in fits.either for row in map(stored, connection.execute(window.where(each)))}
    return [found[seq] for seq in sorted(found, reverse=newest_first)[:limit]]


def _span(connection: Connection, chain: str, wanted: Filter) -> tuple[int, int] | None:
    """The lowest and the highest number that can fit; None where nothing can."""
    ends = func.min(records.c.seq), func.max(records.c.seq)
    mine = [records.c.chain == chain, *times(wanted)]
    if len(mine) > 1:
        low, high = connection.execute(select(*ends).where(*mine)).one()
    else:  # asked for one by one, a database finds them without reading what lies between
        low, high = (connection.scalar(select(end).where(*mine)) for end in ends)
    return None if low is None else (low, high)


def windows(low: int, high: int, size: int, grows: int, *, newest_first: bool) -> Iterator[tuple[int, int]]:
    """The numbers from one to another, some at a time: at first `size`, then `grows` times as many each time."""
    while low <= high:
        if newest_first:
            yield max(low, high - size + 1), high
            high -= size
        else:
            yield low, min(high, low + size - 1)
            low += size
        size *= grows
