"""The SQLite backend: one file in WAL mode.

Rules kept here:
1. The file, its WAL and every backup are readable only by the guard's own account.
2. A commit to a file that was unlinked or replaced succeeds silently, so the files are compared with the open ones
   before its changes are reported as stored; on the writer's thread before a batch, too.
3. The driver does not begin transactions itself: writers use `BEGIN IMMEDIATE`, so that another process's lock is met
   at the start of a transaction and not in the middle.
4. Deleted content is overwritten, so that it cannot be recovered from the file.
5. Committed pages are moved from the WAL to the file by another connection in another thread, so that no commit waits
   for it.
6. While a connection is open, only SQLite opens the file, its WAL or its index in this process: closing any descriptor
   of a file drops all locks of the process on it. Another program that reads the database would then consider itself
   the last user and delete the WAL.
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
from mcpguard.store.engine.backend import StoreLocked, cause
from mcpguard.store.engine.checkpointer import COMMITS, Checkpointer
from mcpguard.store.engine.durability import Durability

FORGETTING: Final = 0.2
"""Seconds to wait for readers while the WAL is truncated: nothing can be written meanwhile."""
PAGE: Final = 8192
"""Bytes of a page of a new file. With fewer, a sixth of each page is too short for another record and stays empty."""
Identity = tuple[int, int]


class SQLite:
    """A SQLite database file."""

    def __init__(self, path: Path, busy_timeout: float) -> None:
        self.path = path
        self.name = str(path)
        self.quick = True
        self._wal_name = self.name + "-wal"
        self._busy_timeout = busy_timeout
        self._durability: Durability | None = None
        self._waits = True
        self._checkpointer = Checkpointer(self.checkpoint)
        self._commits = 0
        self._identity: Identity | None = None
        self._wal: Identity | None = None
        self._writing: Engine | None = None
        self._engines: list[Engine] = []

    def connect(self) -> Connection:
        """Open the file, which is created at first. Later it must be the same file: a restored one needs a restart."""
        if self._identity is not None:
            self._same_file()
        try:
            _make(self.path)
        except OSError as error:
            raise StoreUnavailable(f"{self.path} cannot be written: {error.strerror}") from error
        if self._writing is None:
            self._writing = self._engine(
                NullPool,
                f"PRAGMA page_size={PAGE}",
                "PRAGMA journal_mode=WAL",
                "PRAGMA foreign_keys=ON",
                "PRAGMA secure_delete=ON",
                "PRAGMA wal_autocheckpoint=0",
            )
            event.listen(self._writing, "begin", _begin_immediate)
        try:
            connection = self._writing.connect()
        except SQLAlchemyError as error:
            raise StoreUnavailable(f"{self.path} cannot be opened: {cause(error)}") from error
        self._identity = _identity(self.name)
        return connection

    def note_disconnect(self) -> None:
        self._durability = None
        self._waits = True
        self._wal = None  # closing the last connection deletes the WAL
        for engine in self._engines:
            engine.dispose()  # readers must not continue with the deleted WAL

    def begin(self, connection: Connection, durability: Durability, *, wait: bool = True) -> None:
        driver = _driver(connection)
        if durability is not self._durability:  # SQLite ignores the pragma inside a transaction
            level = "FULL" if durability is Durability.SYNCED else "NORMAL"
            driver.execute(f"PRAGMA synchronous={level}")
            self._durability = durability
        if wait is not self._waits:
            driver.execute(f"PRAGMA busy_timeout={round(self._busy_timeout * 1000) if wait else 0}")
            self._waits = wait
        try:
            driver.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if not wait and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                raise StoreLocked from error
            raise

    def commit(self, connection: Connection) -> None:
        # SQLAlchemy knows of the transaction only if one of its statements was part of it.
        if connection.in_transaction():
            connection.commit()
        else:
            _driver(connection).execute("COMMIT")
        self._commits += 1
        if self._commits >= COMMITS and self._checkpointer.begin():
            self._commits = 0

    def roll_back(self, connection: Connection) -> None:
        if connection.in_transaction():
            connection.rollback()
        driver = _driver(connection)
        if driver.in_transaction:
            driver.execute("ROLLBACK")

    def still_there(self) -> None:
        # Strings take half the time of paths; this runs with every batch.
        try:
            file, wal = os.stat(self.name), os.stat(self._wal_name)  # noqa: PTH116
        except FileNotFoundError:
            self._same_file()
            self._same_wal(None)
            return
        if (file.st_dev, file.st_ino) != self._identity:
            self._same_file()
        if (wal.st_dev, wal.st_ino) != self._wal:
            self._same_wal((wal.st_dev, wal.st_ino))

    def readers(self, count: int) -> Engine:
        return self._engine(QueuePool, "PRAGMA query_only=ON", size=count)

    def upgrade_lock(self, connection: Connection) -> None:
        """Do nothing: `BEGIN IMMEDIATE` is the lock."""

    def back_up(self, before: str) -> Path | None:
        """Copy to `backups/<name>-<schema>.db` beside the file, with a number if that exists already."""
        folder = self.path.parent / "backups"
        folder.mkdir(mode=0o700, exist_ok=True)
        target, number = folder / f"{self.path.stem}-{before}.db", 1
        while target.exists():
            number += 1
            target = folder / f"{self.path.stem}-{before}-{number}.db"
        copy(self.path, target)
        return target

    def forget(self) -> bool:
        """Truncate the WAL, which keeps deleted content until it is overwritten."""
        try:
            self._same_file()
            with closing(_separate_connection(self.path, "rw", FORGETTING)) as connection:
                found: tuple[int, ...] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except (sqlite3.Error, StoreUnavailable):
            return False
        return found[0] == 0

    def checkpoint(self, *, stop_writers: bool) -> int:
        """Move committed pages from the WAL to the file; return how many the WAL held. Writers can go on meanwhile,
        but for the end of it if they are to be stopped: only then is the WAL sure to begin anew.
        """
        self._same_file()
        with closing(_separate_connection(self.path, "rw", FORGETTING)) as connection:
            mode = "RESTART" if stop_writers else "PASSIVE"
            found: tuple[int, ...] = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        return found[1]

    def dispose(self) -> None:
        self._checkpointer.wait()
        for engine in self._engines:
            engine.dispose()

    def _same_wal(self, found: Identity | None) -> None:
        if self._wal is not None and found != self._wal:
            raise StoreUnavailable(f"{self.path}-wal was removed or replaced while the guard had it open")
        self._wal = found

    def _same_file(self) -> None:
        if _identity(self.name) != self._identity:
            raise StoreUnavailable(f"{self.path} was removed or replaced while the guard had it open")

    def _engine(self, pool: type[NullPool] | type[QueuePool], *pragmas: str, size: int = 0) -> Engine:
        options = {"pool_size": size, "max_overflow": 0} if size else {}
        engine = create_engine(
            # Never create a missing file: a new one would silently replace the lost database.
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
    """Create the file for our own account if it does not exist. An existing one is checked, but not opened (rule 6)."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        if not path.exists():  # a symbolic link to a missing file
            os.close(os.open(path.resolve(), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        elif not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None


def copy(source: Path, target: Path) -> None:
    """Copy a live database consistently, readable by us only. Never overwrites; a failure leaves no copy."""
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreUnavailable(f"{target} cannot be created: {error.strerror}") from error
    try:
        with (
            closing(_separate_connection(source, "ro")) as live,
            closing(sqlite3.connect(target)) as new,
        ):
            live.backup(new)
    except sqlite3.Error as error:
        target.unlink()
        raise StoreUnavailable(f"{source} cannot be copied to {target}: {error}") from error


def _separate_connection(path: Path, mode: str, timeout: float = 5.0) -> sqlite3.Connection:
    """Open a separate connection to an existing file."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=timeout)


def _begin_immediate(connection: Connection) -> None:
    if not _driver(connection).in_transaction:  # the writer has begun it
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _driver(connection: Connection) -> sqlite3.Connection:
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)


def _identity(path: str) -> Identity | None:
    """Return device and inode of a path."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
