"""Counts the records that match a filter, by time and verdict.

Rules kept here:
1. Work is limited, as in `record_search`: windows of numbers, the newest first, until the time is up. The result says
   how far the count got.
2. A record counts once, however many alternatives it matches. A pruned record has no time, and is not counted.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, func, not_, or_, select

from mcpguard.domain.filters import Filter
from mcpguard.store.rows.filter_conditions import conditions, times
from mcpguard.store.rows.record_search import windows
from mcpguard.store.rows.tables import records

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
    highest = _highest(connection, chain, wanted)
    reached = highest + 1
    fits = conditions(connection, chain, wanted)
    ways = [*_apart(fits.either)]
    slots: Counter[tuple[int, str]] = Counter()
    by = (records.c.at // grain).label("slot"), records.c.verdict
    for first, last in windows(1, highest, FIRST_WINDOW, GROWS, newest_first=True):
        if not _more(connection, chain, wanted, reached):
            return RecordCounts(slots, reached, ended=True)
        if reached <= highest and not patience():
            return RecordCounts(slots, reached, ended=False)
        window = select(*by, func.count()).where(*fits.every, records.c.seq >= first, records.c.seq <= last)
        for way in ways:
            for slot, verdict, number in connection.execute(window.where(way).group_by(*by)):
                if isinstance(slot, int):  # others are pruned, or were not written by mcpguard
                    slots[slot, verdict if isinstance(verdict, str) else ""] += number
        reached = first
    return RecordCounts(slots, reached, ended=True)


def made_at(connection: Connection, chain: str, seq: int) -> int | None:
    """Return the time of the first record from this number on that was not pruned."""
    mine = records.c.chain == chain, records.c.seq >= seq, records.c.at.is_not(None)
    found: int | None = connection.scalar(select(records.c.at).where(*mine).order_by(records.c.seq).limit(1))
    return found


def _highest(connection: Connection, chain: str, wanted: Filter) -> int:
    """Return the highest number that can match, or a higher one; 0 if there is none."""
    early = [*times(wanted)] if wanted.until is not None else []
    found: int | None = connection.scalar(select(func.max(records.c.seq)).where(records.c.chain == chain, *early))
    return found or 0


def _more(connection: Connection, chain: str, wanted: Filter, before: int) -> bool:
    """Tell whether any record before this number is in the filter's time. The oldest by time is mostly the oldest by
    number, so the first row answers."""
    mine = records.c.chain == chain, records.c.seq < before, *times(wanted)
    order = records.c.at if len(mine) > 2 else records.c.seq
    return connection.scalar(select(records.c.seq).where(*mine).order_by(order).limit(1)) is not None


def _apart(ways: Sequence[ColumnElement[bool]]) -> Iterator[ColumnElement[bool]]:
    """Yield the alternatives, each without what matches an earlier one."""
    for place, way in enumerate(ways):
        before = or_(*ways[:place]) if place else None
        yield way if before is None else and_(way, not_(func.coalesce(before, False)))
