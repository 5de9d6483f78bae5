"""SQLite: one file in WAL mode.

Rules kept here:
1. The file, its WAL and every backup are readable by the guard's own account only.
2. A commit to a database whose file was unlinked or replaced succeeds without a word, so the files are compared with
   the open ones before a batch and again before anyone is told that it is stored.
3. The driver begins no transactions of its own: `BEGIN IMMEDIATE` for writers, so that a lock held by somebody else
   is met at the beginning and not in the middle.
4. What is removed is overwritten: it must not be found in the file any more.
5. Nobody but SQLite opens the file, its WAL or its index in this process once a connection is open: closing any
   descriptor of a file drops all locks of the process on it, and then another program that reads the database takes
   itself for the last one, and deletes the WAL.
"""

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final, cast

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, QueuePool

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine.backend import cause
from mcpguard.store.engine.durability import Durability

FORGETTING: Final = 0.2
"""Seconds for which somebody who reads is waited for while the WAL is emptied: nobody can write meanwhile."""
Identity = tuple[int, int]


class SQLite:
    """A database file of our own."""

    def __init__(self, path: Path, busy_timeout: float) -> None:
        self.path = path
        self.name = str(path)
        self._wal_name = self.name + "-wal"
        self._busy_timeout = busy_timeout
        self._durability: Durability | None = None
        self._identity: Identity | None = None
        self._wal: Identity | None = None
        self._writing: Engine | None = None
        self._engines: list[Engine] = []

    def connect(self) -> Connection:
        """Open the file, made on first use. Later it must be the same file: a restored one wants a restart."""
        if self._identity is not None:
            self._same_file()
        try:
            _make(self.path)
        except OSError as error:
            raise StoreUnavailable(f"{self.path} cannot be written: {error.strerror}") from error
        if self._writing is None:
            self._writing = self._engine(
                NullPool, "PRAGMA journal_mode=WAL", "PRAGMA foreign_keys=ON", "PRAGMA secure_delete=ON"
            )
            event.listen(self._writing, "begin", _begin_immediate)
        try:
            connection = self._writing.connect()
        except SQLAlchemyError as error:
            raise StoreUnavailable(f"{self.path} cannot be opened: {cause(error)}") from error
        self._identity = _identity(self.name)
        return connection

    def disconnected(self) -> None:
        self._durability = None
        self._wal = None  # closing the last connection removes it
        for engine in self._engines:
            engine.dispose()  # readers must not go on with a WAL that is no longer the one

    def begin(self, connection: Connection, durability: Durability) -> None:
        if durability is not self._durability:  # SQLite ignores the pragma inside a transaction
            level = "FULL" if durability is Durability.SYNCED else "NORMAL"
            _driver(connection).execute(f"PRAGMA synchronous={level}")
            self._durability = durability
        connection.begin()

    def still_there(self) -> None:
        self._same_file()
        wal = _identity(self._wal_name)
        if self._wal is not None and wal != self._wal:
            raise StoreUnavailable(f"{self.path}-wal was removed or replaced while the guard had it open")
        self._wal = wal

    def readers(self, count: int) -> Engine:
        return self._engine(QueuePool, "PRAGMA query_only=ON", size=count)

    def upgrade_lock(self, connection: Connection) -> None:
        """Nothing to do: `BEGIN IMMEDIATE` is the lock."""

    def back_up(self, before: str) -> Path | None:
        """`backups/<name>-<schema>.db` beside the file; an existing one is kept and a number added."""
        folder = self.path.parent / "backups"
        folder.mkdir(mode=0o700, exist_ok=True)
        target, number = folder / f"{self.path.stem}-{before}.db", 1
        while target.exists():
            number += 1
            target = folder / f"{self.path.stem}-{before}-{number}.db"
        copy(self.path, target)
        return target

    def forget(self) -> bool:
        """The WAL keeps what was written until it is written over, so it is emptied."""
        try:
            self._same_file()
            with closing(_beside(self.path, "rw", FORGETTING)) as connection:
                found: tuple[int, ...] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except (sqlite3.Error, StoreUnavailable):
            return False
        return found[0] == 0

    def dispose(self) -> None:
        for engine in self._engines:
            engine.dispose()

    def _same_file(self) -> None:
        if _identity(self.name) != self._identity:
            raise StoreUnavailable(f"{self.path} was removed or replaced while the guard had it open")

    def _engine(self, pool: type[NullPool] | type[QueuePool], *pragmas: str, size: int = 0) -> Engine:
        options = {"pool_size": size, "max_overflow": 0} if size else {}
        engine = create_engine(
            # Where the file is gone nobody makes another one, which would take the place of what was there.
            URL.create("sqlite", database=self.path.absolute().as_uri(), query={"mode": "rw", "uri": "true"}),
            poolclass=pool,
            connect_args={"timeout": self._busy_timeout, "isolation_level": None, "check_same_thread": False},
            **options,
        )

        def prepare(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
            cursor = connection.cursor()
            for pragma in (*pragmas, "PRAGMA trusted_schema=OFF"):
                cursor.execute(pragma)
            cursor.close()

        event.listen(engine, "connect", prepare)
        self._engines.append(engine)
        return engine


def _make(path: Path) -> None:
    """Make the file for our own account, where there is none; one that is there is looked at and not opened."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if not path.exists():  # a link that leads nowhere yet
            os.close(os.open(path.resolve(), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        elif not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None


def copy(source: Path, target: Path) -> None:
    """A consistent copy of a live database, readable by us only. Refuses to overwrite; a failure leaves no copy."""
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreUnavailable(f"{target} cannot be made: {error.strerror}") from error
    try:
        with (
            closing(_beside(source, "ro")) as live,
            closing(sqlite3.connect(target)) as new,
        ):
            live.backup(new)
    except sqlite3.Error as error:
        target.unlink()
        raise StoreUnavailable(f"{source} cannot be copied to {target}: {error}") from error


def _beside(path: Path, mode: str, timeout: float = 5.0) -> sqlite3.Connection:
    """A connection of one's own to a file that is there."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=timeout)


def _begin_immediate(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _driver(connection: Connection) -> sqlite3.Connection:
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)


def _identity(path: str) -> Identity | None:
    """Takes a string, and so half the time: asked four times for every batch."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
