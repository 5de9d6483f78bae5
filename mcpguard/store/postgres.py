"""PostgreSQL, by URL.

Rules kept here:
1. One guard writes to a database: the writing connection holds a session-level advisory lock, and a connection that
   does not get it is not used.
2. `SYNCED` is synchronous_commit on, `COMMITTED` off: a crash of the *server* may then lose the newest records, which
   the ledger notices and records as lost.
"""

from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool, QueuePool

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.backend import cause
from mcpguard.store.durability import Durability

WRITER_LOCK = 0x6D637067_77726974
UPGRADE_LOCK = 0x6D637067_75706772


class Postgres:
    """A database on a PostgreSQL server."""

    def __init__(self, url: URL, busy_timeout: float) -> None:
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
            # Waits as long as for any lock: a session of ours that just ended may not have let go of it yet.
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": WRITER_LOCK})
            connection.commit()
        except SQLAlchemyError as error:
            connection.close()
            raise StoreUnavailable(f"{self.name} is in use by another guard; stop that one first") from error
        return connection

    def disconnected(self) -> None:
        """Nothing to do: the server ends the lock with the session."""

    def begin(self, connection: Connection, durability: Durability) -> None:
        connection.begin()
        level = "on" if durability is Durability.SYNCED else "off"
        connection.exec_driver_sql(f"SET LOCAL synchronous_commit TO {level}")

    def still_there(self) -> None:
        """Nothing to do: a commit that the server confirms is what readers find."""

    def readers(self, count: int) -> Engine:
        return self._engine(QueuePool, read_only=True, size=count)

    def upgrade_lock(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": UPGRADE_LOCK})

    def back_up(self, before: str) -> Path | None:  # noqa: ARG002 - pg_dump is the operator's tool for this
        return None

    def forget(self) -> bool:
        return True  # its server's operator decides when it vacuums, and what becomes of its log

    def dispose(self) -> None:
        for engine in self._engines:
            engine.dispose()

    def _engine(self, pool: type[NullPool] | type[QueuePool], *, read_only: bool, size: int = 0) -> Engine:
        milliseconds = int(self._busy_timeout * 1000)
        options = f"-c lock_timeout={milliseconds} -c statement_timeout={10 * milliseconds}"
        if read_only:
            options += " -c default_transaction_read_only=on"
        engine = create_engine(
            self._url,
            poolclass=pool,
            connect_args={"connect_timeout": max(2, round(self._busy_timeout)), "options": options},
            **({"pool_size": size, "max_overflow": 0, "pool_pre_ping": True} if size else {}),
        )
        self._engines.append(engine)
        return engine
