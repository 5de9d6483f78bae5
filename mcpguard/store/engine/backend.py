"""The database interface used by the writer and the readers; `sqlite` and `postgres` implement it."""

from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from mcpguard.store.engine.durability import Durability

__all__ = ["Backend", "Connection", "StoreLocked", "cause"]


class StoreLocked(Exception):
    """Another program has locked the database."""


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

    quick: bool
    """Whether a transaction that need not be synced takes so little time that the event loop may wait for it."""

    def begin(self, connection: Connection, durability: Durability, *, wait: bool = True) -> None:
        """Begin the transaction of a batch, to be committed with this durability. Raises StoreLocked where another
        program has locked the database and this one would have to `wait`."""
        ...

    def commit(self, connection: Connection) -> None:
        """Commit the transaction of a batch."""
        ...

    def roll_back(self, connection: Connection) -> None:
        """End the transaction of a batch that failed, so that it locks nothing any more."""
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
