"""Long walks over a table whose key is (chain, seq), and long lists of values."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Select, Table

T = TypeVar("T")
_FIRST = -(2**63)  # an intruder may have numbered below 1


def paged(
    connection: Connection,
    wanted: Select[Any],
    table: Table,
    chain: str,
    upto: int,
    page: int,
    after: int = _FIRST,
) -> Iterator[Row[Any]]:
    """Every wanted row of a chain after a number and up to another, in order. `wanted` has the column `seq`.

    Read page by page, each in a transaction of its own, so that a long walk holds up nobody who writes.
    """
    mine = wanted.where(table.c.chain == chain, table.c.seq <= upto).order_by(table.c.seq).limit(page)
    while True:
        rows = connection.execute(mine.where(table.c.seq > after)).all()
        connection.rollback()
        yield from rows
        if len(rows) < page:
            return
        after = rows[-1].seq


def batched(values: Sequence[T], most: int = 500) -> Iterator[Sequence[T]]:
    """The values, some at a time: an old SQLite takes 999 in one statement."""
    for begin in range(0, len(values), most):
        yield values[begin : begin + most]
