"""What the writer and the readers need of a database; `sqlite` and `postgres` are the two there are."""

from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from mcpguard.store.engine.durability import Durability

__all__ = ["Backend", "Connection", "cause"]


class Backend(Protocol):
    """One database that the guard can live on."""

    name: str
    """What to call it in messages; never contains a password."""

    def connect(self) -> Connection:
        """The one writing connection. Raises StoreUnavailable when it is not to be had."""
        ...

    def disconnected(self) -> None:
        """The writing connection was closed; the next is a new one."""
        ...

    def begin(self, connection: Connection, durability: Durability) -> None:
        """Start the transaction in which a batch runs, to be committed with this durability."""
        ...

    def still_there(self) -> None:
        """Raise StoreUnavailable when what we write is not what a reader would find."""
        ...

    def readers(self, count: int) -> Engine:
        """Connections that cannot write."""
        ...

    def upgrade_lock(self, connection: Connection) -> None:
        """Keep every other process from upgrading until the transaction ends."""
        ...

    def back_up(self, before: str) -> Path | None:
        """A copy of the database before its schema is changed from `before`; None where its server's tools do that."""
        ...

    def forget(self) -> bool:
        """Have what was removed lie in no log of the database's own either, as far as that is ours to say; False where
        somebody who reads is in the way of that just now."""
        ...

    def dispose(self) -> None: ...


def cause(error: SQLAlchemyError) -> str:
    """What the driver said, without the statement and its parameters."""
    return str(getattr(error, "orig", None) or error).strip()
