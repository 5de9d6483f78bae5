"""The database interface used by the writer and the readers; `sqlite` and `postgres` implement it."""

from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from mcpguard.store.engine.durability import Durability

__all__ = ["Backend", "Connection", "cause"]


class Backend(Protocol):
    """A database that the guard can use."""

    name: str
    """The name in messages; it never contains a password."""

    def connect(self) -> Connection:
        """Open the only writing connection. Raises StoreUnavailable."""
        ...

    def note_disconnect(self) -> None:
        """Note that the writing connection was closed and the next one is new."""
        ...

    def begin(self, connection: Connection, durability: Durability) -> None:
        """Begin the transaction of a batch, to be committed with this durability."""
        ...

    def still_there(self) -> None:
        """Raise StoreUnavailable if readers would not find what is written."""
        ...

    def readers(self, count: int) -> Engine:
        """Return an engine whose connections cannot write."""
        ...

    def upgrade_lock(self, connection: Connection) -> None:
        """Prevent every other process from upgrading until the transaction ends."""
        ...

    def back_up(self, before: str) -> Path | None:
        """Copy the database before its schema is upgraded from `before`; None where the tools of its server do that."""
        ...

    def forget(self) -> bool:
        """Remove deleted content from the database's own log too, where mcpguard can; False if a reader prevents it
        now."""
        ...

    def dispose(self) -> None: ...


def cause(error: SQLAlchemyError) -> str:
    """Return the message of the driver, without the statement and its parameters."""
    return str(getattr(error, "orig", None) or error).strip()
