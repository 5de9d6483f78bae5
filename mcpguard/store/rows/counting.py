"""Counting the records that fit a filter, by when they were made and by their verdict.

Rules kept here:
1. Work is bounded, as in `searching`: windows of numbers, the newest first, until the time is over. How far it came is
   said.
2. A record counts once, in however many ways it fits. What was pruned has no time, and does not count.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, func, not_, or_, select

from mcpguard.domain.filters import Filter
from mcpguard.store.rows.filtering import conditions, times
from mcpguard.store.rows.searching import windows
from mcpguard.store.rows.tables import records

FIRST_WINDOW: Final = 5_000
GROWS: Final = 2


@dataclass(frozen=True, slots=True)
class Counted:
    """How many records fit, by slot of time (each as long as the grain) and verdict, "" where they have none.

    `reached`: all from this number on were looked at; `ended`: nothing before it fits.
    """

    slots: Mapping[tuple[int, str], int]
    reached: int
    ended: bool


def count(
    connection: Connection, chain: str, wanted: Filter, grain: int, patience: Callable[[], bool] = lambda: True
) -> Counted:
    """Count what fits, in slots of `grain` microseconds. Between two windows `patience` is asked for more time."""
    highest = _highest(connection, chain, wanted)
    reached = highest + 1
    fits = conditions(connection, chain, wanted)
    ways = [*_apart(fits.either)]
    slots: Counter[tuple[int, str]] = Counter()
    by = (records.c.at // grain).label("slot"), records.c.verdict
    for first, last in windows(1, highest, FIRST_WINDOW, GROWS, newest_first=True):
        if not _more(connection, chain, wanted, reached):
            return Counted(slots, reached, ended=True)
        if reached <= highest and not patience():
            return Counted(slots, reached, ended=False)
        window = select(*by, func.count()).where(*fits.every, records.c.seq >= first, records.c.seq <= last)
        for way in ways:
            for slot, verdict, number in connection.execute(window.where(way).group_by(*by)):
                if isinstance(slot, int):  # what else lies there was pruned, or nobody of ours wrote it
                    slots[slot, verdict if isinstance(verdict, str) else ""] += number
        reached = first
    return Counted(slots, reached, ended=True)


def made_at(connection: Connection, chain: str, seq: int) -> int | None:
    """When the first record from this number on was made that was not pruned."""
    mine = records.c.chain == chain, records.c.seq >= seq, records.c.at.is_not(None)
    found: int | None = connection.scalar(select(records.c.at).where(*mine).order_by(records.c.seq).limit(1))
    return found


def _highest(connection: Connection, chain: str, wanted: Filter) -> int:
    """The highest number that can fit, or a higher one; 0 where there is none."""
    early = [*times(wanted)] if wanted.until is not None else []
    found: int | None = connection.scalar(select(func.max(records.c.seq)).where(records.c.chain == chain, *early))
    return found or 0


def _more(connection: Connection, chain: str, wanted: Filter, before: int) -> bool:
    """Whether anything before this number is of the time that is looked for. What is oldest by its time mostly is so by
    its number, and the first that is met answers."""
    mine = records.c.chain == chain, records.c.seq < before, *times(wanted)
    order = records.c.at if len(mine) > 2 else records.c.seq
    return connection.scalar(select(records.c.seq).where(*mine).order_by(order).limit(1)) is not None


def _apart(ways: Sequence[ColumnElement[bool]]) -> Iterator[ColumnElement[bool]]:
    """The same ways, each without what fits one before it."""
    for place, way in enumerate(ways):
        before = or_(*ways[:place]) if place else None
        yield way if before is None else and_(way, not_(func.coalesce(before, False)))
