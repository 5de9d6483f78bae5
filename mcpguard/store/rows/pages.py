"""Reads long tables with the key (chain, seq) page by page, and splits long lists of values into batches."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Select, Table

T = TypeVar("T")
_FIRST = -(2**63)  # an attacker may have used numbers below 1


def page_rows(
    connection: Connection,
    wanted: Select[Any],
    table: Table,
    chain: str,
    upto: int,
    page: int,
    after: int = _FIRST,
) -> Iterator[Row[Any]]:
    """Yield the wanted rows of a chain after `after` and up to `upto`, in order. `wanted` has the column `seq`.

    Each page is read in a transaction of its own, so that a long walk never blocks the writer.
    """
    mine = wanted.where(table.c.chain == chain, table.c.seq <= upto).order_by(table.c.seq).limit(page)
    while True:
        rows = connection.execute(mine.where(table.c.seq > after)).all()
        connection.rollback()
        yield from rows
        if len(rows) < page:
            return
        after = rows[-1].seq


def batches(values: Sequence[T], most: int = 500) -> Iterator[Sequence[T]]:
    """Yield the values in parts: an old SQLite takes 999 in one statement."""
    for begin in range(0, len(values), most):
        yield values[begin : begin + most]
