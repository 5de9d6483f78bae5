"""Reads a store that another process may be writing to, or a copy of one, without writing or creating any file."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    Text,
    cast,
    create_engine,
    event,
    func,
    inspect,
    make_url,
    or_,
    select,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from mcpguard.domain.errors import NotWhole, StoreUnavailable
from mcpguard.store.engine.backend import cause
from mcpguard.store.rows.tables import bodies, chains, checkpoints, records, search_blocks, search_values

Place = Path | URL
STEPS = 100_000
"""Steps of SQLite's virtual machine between two checks of `halted`: a few milliseconds."""
OPTIONS = "-c default_transaction_read_only=on -c idle_session_timeout=0 -c idle_in_transaction_session_timeout=0"
"""Options of a session on a server: it is read-only, and may be idle while its rows are being examined."""
NEEDED = {table.name for table in (chains, records, bodies, checkpoints)}
_OF_SEARCHES = {table.name for table in (search_blocks, search_values)}


@contextmanager
def open_offline(
    place: Place, halted: Callable[[], bool] | None = None, *, older: bool = False
) -> Iterator[Callable[[], Connection]]:
    """Yield a function that opens reading connections to a database file or a server. `halted`: whether a long
    statement on a file should be aborted. `older`: whether the schema may be that of an older version."""
    engine = _file(place, halted) if isinstance(place, Path) else _server(place)
    try:
        with engine.connect() as connection:
            _refuse_another(connection, place_name(place))
            if not older:
                _refuse_older(connection, place_name(place))
        yield engine.connect
    except SQLAlchemyError as error:
        raise StoreUnavailable(f"{place_name(place)} cannot be read: {cause(error)}") from error
    finally:
        engine.dispose()


def place_from(text: str) -> Place:
    """Return a path, or the URL of a server. Raises StoreUnavailable for an invalid URL."""
    if "://" not in text:
        return Path(text)
    try:
        return make_url(text)
    except ArgumentError as error:
        raise StoreUnavailable("the URL of the database is not valid") from error


def _refuse_another(connection: Connection, place: str) -> None:
    missing = NEEDED - set(inspect(connection).get_table_names())
    if missing:
        raise StoreUnavailable(f"{place} is not a database of mcpguard: it has no table {', '.join(missing)}")


def _refuse_older(connection: Connection, place: str) -> None:
    found = inspect(connection)
    columns = {column["name"] for column in found.get_columns(records.name)}
    if _OF_SEARCHES - set(found.get_table_names()) or {*records.columns.keys()} - columns:
        raise StoreUnavailable(
            f"{place} has the schema of an older version; upgrade it first: `mcpguard db upgrade`, or for a copy "
            "`mcpguard db upgrade --data-dir DIR`, with it as mcpguard.db in the folder DIR"
        )


def _file(path: Path, halted: Callable[[], bool] | None) -> Engine:
    if not path.is_file():
        raise StoreUnavailable(f"{path} does not exist")
    # A copy without its WAL, in a folder that cannot be written, opens only as immutable; a live store must not be
    # opened so, because its WAL would be passed over.
    wal = path.with_name(path.name + "-wal")
    mode = "mode=ro" if wal.exists() else "mode=ro&immutable=1"
    uri = f"{path.absolute().as_uri()}?{mode}"
    engine = create_engine(
        "sqlite://",
        creator=lambda: _connected(uri, halted),
        poolclass=NullPool,
    )

    def prepare(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA query_only=ON")
        cursor.execute("PRAGMA trusted_schema=OFF")
        cursor.close()

    event.listen(engine, "connect", prepare)
    return engine


def refuse_misfits(connection: Connection, place: str) -> None:
    """Raise NotWhole for a value of a type that mcpguard never writes: SQLite allows any type in any cell."""
    if connection.dialect.name != "sqlite":
        return
    for table in (records, bodies, checkpoints, search_blocks, search_values):
        wrong = or_(*map(_is_misfit, table.columns))
        row = table.c.seq if "seq" in table.c else table.c.block
        key = select(cast(table.c.chain, Text), cast(row, Text)).where(wrong).limit(1)
        if found := connection.execute(key).first():
            raise NotWhole(
                f"{place} was modified: in the table {table.name}, {'record' if 'seq' in table.c else 'block'} "
                f"{found[1]} of chain {found[0]} has a value of a type that mcpguard never writes"
            )


def _is_misfit(column: Column[Any]) -> ColumnElement[bool]:
    kind = "blob" if isinstance(column.type, LargeBinary) else "integer" if isinstance(column.type, Integer) else "text"
    other = func.typeof(column) != kind
    # Half the work of a list with "null" in it, for which SQLite compares every type twice.
    return other & column.is_not(None) if column.nullable else other


def _connected(uri: str, halted: Callable[[], bool] | None) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.text_factory = _text
    if halted is not None:
        connection.set_progress_handler(halted, STEPS)
    return connection


def _text(stored: bytes) -> str:
    """Decode any bytes: invalid text must be reported as a finding, not stop the verification."""
    return stored.decode(errors="surrogateescape")


def _server(url: URL) -> Engine:
    return create_engine(
        url.set(drivername="postgresql+psycopg"),
        poolclass=NullPool,
        connect_args={"options": OPTIONS, "connect_timeout": 5},
    )


def place_name(place: Place) -> str:
    """Return the name in messages; it never contains a password."""
    return place.render_as_string(hide_password=True) if isinstance(place, URL) else str(place)
