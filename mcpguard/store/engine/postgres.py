"""The PostgreSQL backend, selected by URL.

Rules kept here:
1. One guard writes to a database: the writing connection holds a session-level advisory lock, and a connection without
   it is not used.
2. `SYNCED` is synchronous_commit on, `COMMITTED` off: a crash of the *database server* may then lose the newest
   records, which the ledger notices and records as lost.
3. The guard itself sets all session parameters that it needs, so that server defaults, such as a timeout for idle
   sessions, cannot take the lock from it.
4. Every wait has a timeout. The server ends long statements; if no response arrives at all, because the network drops
   everything, the guard closes the connection, and keepalives make the server end the session and release the lock.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool, QueuePool

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine.backend import cause
from mcpguard.store.engine.durability import Durability

ACTIVE: Final = 1
"""libpq's status of a connection with an unanswered query (PQTRANS_ACTIVE)."""
ENCODING: Final = "UTF8"
LOCK_NOT_AVAILABLE: Final = "55P03"
WRITER_LOCK = 0x6D637067_77726974
UPGRADE_LOCK = 0x6D637067_75706772
SILENCE: Final = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
"""The server ends a silent session after 25 seconds."""


class Postgres:
    """A database on a PostgreSQL server."""

    def __init__(self, url: URL, busy_timeout: float) -> None:
        self.quick = False
        self.name = url.render_as_string(hide_password=True)
        self._url = url.set(drivername="postgresql+psycopg")
        self._busy_timeout = busy_timeout
        self._writing: Engine | None = None
        self._engines: list[Engine] = []

    def connect(self) -> Connection:
        if self._writing is None:
            self._writing = self._engine(NullPool, read_only=False)
        try:
            connection = self._writing.connect()
        except SQLAlchemyError as error:
            raise StoreUnavailable(f"{self.name} cannot be reached: {cause(error)}") from error
        try:
            self._claim(connection)
        except StoreUnavailable:
            connection.close()
            raise
        return connection

    def note_disconnect(self) -> None:
        """Do nothing: the server releases the lock with the session."""

    def begin(self, connection: Connection, durability: Durability, *, wait: bool = True) -> None:  # noqa: ARG002
        connection.begin()
        level = "on" if durability is Durability.SYNCED else "off"
        connection.exec_driver_sql(f"SET LOCAL synchronous_commit TO {level}")

    def commit(self, connection: Connection) -> None:
        connection.commit()

    def roll_back(self, connection: Connection) -> None:
        connection.rollback()

    def still_there(self) -> None:
        """Do nothing: readers find every commit that the server has confirmed."""

    def readers(self, count: int) -> Engine:
        return self._engine(QueuePool, read_only=True, size=count)

    def upgrade_lock(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": UPGRADE_LOCK})

    def back_up(self, before: str) -> Path | None:  # noqa: ARG002 - pg_dump is the operator's tool for this
        return None

    def forget(self) -> bool:
        return True  # vacuuming and the write-ahead log belong to the operator of the server

    def dispose(self) -> None:
        for engine in self._engines:
            engine.dispose()

    def _claim(self, connection: Connection) -> None:
        """Lock the database for this guard. Raises StoreUnavailable if it is in use or unusable."""
        try:
            encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
            # Waits as long as for any lock: our last session may have ended without having released it yet.
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": WRITER_LOCK})
            connection.commit()
        except SQLAlchemyError as error:
            if isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE:
                raise StoreUnavailable(f"{self.name} is in use by another guard; stop that one first") from error
            raise StoreUnavailable(f"{self.name} cannot be used: {cause(error)}") from error
        if encoding != ENCODING:
            raise StoreUnavailable(
                f"{self.name} has the encoding {encoding}, which cannot store every name and argument. Create the "
                f"database with: createdb --encoding={ENCODING} --template=template0 NAME"
            )

    def _engine(self, pool: type[NullPool] | type[QueuePool], *, read_only: bool, size: int = 0) -> Engine:
        milliseconds = int(self._busy_timeout * 1000)
        longest = 10 * milliseconds
        options = f"-c lock_timeout={milliseconds} -c statement_timeout={longest} -c idle_session_timeout=0 {SILENCE}"
        if read_only:  # a reader for a slow client is idle in between, and blocks nobody
            options += " -c default_transaction_read_only=on -c idle_in_transaction_session_timeout=0"
        else:
            options += f" -c idle_in_transaction_session_timeout={2 * longest}"
        engine = create_engine(
            self._url,
            poolclass=pool,
            connect_args={
                "connect_timeout": max(2, round(self._busy_timeout)),
                "client_encoding": ENCODING,
                "options": options,
            },
            **({"pool_size": size, "max_overflow": 0, "pool_pre_ping": True} if size else {}),
        )
        event.listen(engine, "do_connect", partial(_connected, longest / 1000 + self._busy_timeout))
        self._engines.append(engine)
        return engine


def _connected(
    timeout: float,
    dialect: Any,  # noqa: ANN401 - it is PostgreSQL's, which the types do not say
    _: object,
    given: Sequence[Any],
    named: Mapping[str, Any],
) -> object:
    """Connect with a timeout for every answer. After it the connection is closed: a late answer would be taken for the
    answer to the next query."""
    connection = dialect.connect(*given, **named)
    wait = connection.wait

    def bounded(*about: object, **more: object) -> object:
        try:
            return wait(*about, **{"timeout": timeout} | more)
        except dialect.dbapi.OperationalError:
            if connection.pgconn.transaction_status == ACTIVE:
                connection.close()
            raise

    connection.wait = bounded
    return connection
