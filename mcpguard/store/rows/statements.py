"""Statements that the driver runs itself, for the transaction of a call.

SQLAlchemy takes longer over a small statement than the database does. Everything else goes through SQLAlchemy.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

SQLITE = "sqlite"
Row = Sequence[Any]


class Statement:
    """One statement with a question mark for each value."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._for_postgres = text.replace("?", "%s")

    def first(self, connection: Connection, values: Row) -> Row | None:
        """Run the statement and return its first row, if there is one."""
        if connection.dialect.name != SQLITE:
            return connection.exec_driver_sql(self._for_postgres, tuple(values)).first()
        found: Row | None = _driver(connection).execute(self._text, values).fetchone()
        return found

    def all(self, connection: Connection, values: Row) -> Sequence[Row]:
        """Run the statement and return its rows."""
        if connection.dialect.name != SQLITE:
            return connection.exec_driver_sql(self._for_postgres, tuple(values)).all()
        found: Sequence[Row] = _driver(connection).execute(self._text, values).fetchall()
        return found

    def run(self, connection: Connection, rows: Iterable[Row]) -> None:
        """Run the statement for each of these rows of values."""
        if connection.dialect.name != SQLITE:
            connection.exec_driver_sql(self._for_postgres, [tuple(row) for row in rows])
        else:
            _driver(connection).executemany(self._text, rows)


def _driver(connection: Connection) -> Any:  # noqa: ANN401 - the driver's connection, as SQLAlchemy has it
    """Return the driver's connection, in a transaction."""
    driver = connection.connection.dbapi_connection
    assert driver is not None  # noqa: S101 - a connection that was closed raises before
    # The driver begins no transaction by itself: a statement outside of one would be committed at once.
    if not driver.in_transaction and not connection.in_transaction():
        connection.begin()
    return driver
