"""Counts the records that match a filter, by time and verdict.

Rules kept here:
1. Work is limited, as in `record_search`: windows of numbers, the newest first, until the time is up. The result says
   how far the count got.
2. A pruned record has no time, and is not counted.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, func, select

from mcpguard.domain.filters import Filter
from mcpguard.store.rows.tables import records
from mcpguard.store.search.filter_conditions import Conditions, times
from mcpguard.store.search.record_search import windows

FIRST_WINDOW: Final = 5_000
GROWS: Final = 2


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """The number of matching records by slot of time (each as long as the grain) and verdict, "" without one.

    `reached`: all records from this number on were checked; `ended`: no earlier one matches.
    """

    slots: Mapping[tuple[int, str], int]
    reached: int
    ended: bool


def count(
    connection: Connection, chain: str, wanted: Filter, grain: int, patience: Callable[[], bool] = lambda: True
) -> RecordCounts:
    """Count matching records in slots of `grain` microseconds, as long as `patience` returns True after each window."""
    fits = Conditions(connection, chain, wanted)
    lowest, highest = fits.span() or (1, 0)
    reached = highest + 1
    slots: Counter[tuple[int, str]] = Counter()
    by = (records.c.at // grain).label("slot"), records.c.verdict
    within = records.c.seq.between(bindparam("first"), bindparam("last"))
    window = select(*by, func.count()).where(*fits.every(), within).group_by(*by)
    for first, last in windows(lowest, highest, FIRST_WINDOW, GROWS, newest_first=True):
        if not _more(connection, chain, wanted, (lowest, reached)):
            return RecordCounts(slots, reached, ended=True)
        if reached <= highest and not patience():
            return RecordCounts(slots, reached, ended=False)
        for begin, end in fits.ranges(first, last):
            for slot, verdict, number in connection.execute(window, {"first": begin, "last": end}):
                if isinstance(slot, int):  # others are pruned, or were not written by mcpguard
                    slots[slot, verdict if isinstance(verdict, str) else ""] += number
        reached = first
    return RecordCounts(slots, reached, ended=True)


def made_at(connection: Connection, chain: str, seq: int) -> int | None:
    """Return the time of the first record from this number on that was not pruned."""
    mine = records.c.chain == chain, records.c.seq >= seq, records.c.at.is_not(None)
    found: int | None = connection.scalar(select(records.c.at).where(*mine).order_by(records.c.seq).limit(1))
    return found


def _more(connection: Connection, chain: str, wanted: Filter, among: tuple[int, int]) -> bool:
    """Tell whether any of these records, the last one excluded, is in the filter's time. The first mostly is."""
    mine = records.c.chain == chain, records.c.seq >= among[0], records.c.seq < among[1], *times(wanted)
    return connection.scalar(select(records.c.seq).where(*mine).order_by(records.c.seq).limit(1)) is not None
