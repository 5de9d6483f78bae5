"""Reads a long chain in segments, for verification.

Rules kept here:
1. A segment is a range of numbers that is chosen by counting rows, so that neither gaps nor absurd numbers make it
   large or leave it empty, and every row up to the end is in exactly one.
2. Rows are taken from the driver: a million of them as objects of SQLAlchemy would cost more than checking them. SQLite
   hands them over one by one, a server in pages.
3. A segment is read in transactions of its own, so that a long walk never blocks the writer.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Table, select
from sqlalchemy.exc import DatabaseError

from mcpguard.store.rows.records import WHOLE, StoredBody, StoredRecord, stored_record
from mcpguard.store.rows.tables import bodies, records

_FIRST: Final = -(2**63)  # an attacker may have used numbers below 1
_BODY: Final = (bodies.c.seq, bodies.c.salt, bodies.c.content)
_PAGE: Final = {records.name: 500, bodies.name: 50}
"""Rows that a server is asked for at once: its driver keeps them all in memory, and a body may have 16 MiB."""
Row = Sequence[Any]
Driver = Any
"""A connection of sqlite3 or psycopg."""


class Segment(NamedTuple):
    """The numbers after `after` and up to `upto` of a chain."""

    chain: str
    after: int
    upto: int


class Undecodable(Exception):
    """Text in a row is not UTF-8, or the row cannot be read at all."""


def segments(connection: Connection, chain: str, upto: int, size: int) -> Iterator[Segment]:
    """Yield segments of so many records each, in order, that together reach to `upto`."""
    after = _FIRST
    ends = select(records.c.seq).where(records.c.chain == chain, records.c.seq <= upto).order_by(records.c.seq)
    while after < upto:
        end: int | None = connection.scalar(ends.where(records.c.seq > after).offset(size - 1).limit(1))
        connection.rollback()
        end = upto if end is None else end
        yield Segment(chain, after, end)
        after = end


def decode_quickly(connection: Connection) -> None:
    """Have the driver decode text by itself. Rows with text that is not UTF-8 then raise Undecodable."""
    if connection.dialect.name == "sqlite":
        _driver(connection).text_factory = str


def record_rows(connection: Connection, segment: Segment) -> Iterator[Row]:
    """Yield the rows of `WHOLE` of a segment's records, in order. Raises Undecodable."""
    return _rows(connection, records, WHOLE, segment)


def body_rows(connection: Connection, segment: Segment) -> Iterator[Row]:
    """Yield number, salt and content of a segment's bodies, in order. Raises Undecodable."""
    return _rows(connection, bodies, _BODY, segment)


def records_in(connection: Connection, segment: Segment) -> Iterator[StoredRecord]:
    """Yield a segment's records, in order."""
    return map(stored_record, _readable(record_rows(connection, segment)))


def bodies_in(connection: Connection, segment: Segment) -> Iterator[StoredBody]:
    """Yield a segment's bodies, in order."""
    return (StoredBody(*row) for row in _readable(body_rows(connection, segment)))


def _rows(connection: Connection, table: Table, columns: Sequence[Any], segment: Segment) -> Iterator[Row]:
    names = tuple(column.name for column in columns)
    read = _file_rows if connection.dialect.name == "sqlite" else _server_rows
    try:
        yield from read(_driver(connection), table.name, names, segment)
    except connection.dialect.loaded_dbapi.Error as error:
        raise Undecodable from error


def _file_rows(driver: Driver, table: str, columns: tuple[str, ...], segment: Segment) -> Iterator[Row]:
    yield from driver.execute(_statement(table, columns, "?"), segment)


def _server_rows(driver: Driver, table: str, columns: tuple[str, ...], segment: Segment) -> Iterator[Row]:
    statement, at, page = _statement(table, columns, "%s") + " LIMIT %s", columns.index("seq"), _PAGE[table]
    chain, after, upto = segment
    try:
        with driver.cursor(binary=True) as cursor:
            while True:
                rows = cursor.execute(statement, (chain, after, upto, page)).fetchall()
                yield from rows
                if len(rows) < page:
                    return
                after = rows[-1][at]
    finally:
        driver.rollback()  # all rows of a page are here, also those of another iterator


def _readable(rows: Iterator[Row]) -> Iterator[Row]:
    """Report an error of the driver as SQLAlchemy does."""
    try:
        yield from rows
    except Undecodable as error:
        cause = error.__cause__
        assert isinstance(cause, Exception)  # noqa: S101 - raised above, with this cause only
        raise DatabaseError(None, None, cause) from cause


@cache
def _statement(table: str, columns: tuple[str, ...], mark: str) -> str:
    names = ", ".join(f'"{name}"' for name in columns)
    mine = f"chain = {mark} AND seq > {mark} AND seq <= {mark}"
    return f"SELECT {names} FROM {table} WHERE {mine} ORDER BY seq"  # noqa: S608 - our own names


def _driver(connection: Connection) -> Driver:
    return connection.connection.driver_connection
