"""Writes to a database that no guard is using, in one transaction."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine.backend import Backend, cause
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.schema import schema_of

T = TypeVar("T")


def write_alone(backend: Backend, work: Callable[[Connection], T]) -> T:
    """Run `work` in a transaction of its own, and return its result once it is on the disk. Raises StoreUnavailable."""
    try:
        connection = backend.connect()
        try:
            backend.begin(connection, Durability.SYNCED)
            schema = schema_of(connection)
            if schema.found != schema.newest:
                raise StoreUnavailable(
                    f"{backend.name} has the schema of another version; upgrade it first (mcpguard db upgrade)"
                )
            done = work(connection)
            backend.commit(connection)
        finally:
            connection.close()
    except SQLAlchemyError as error:
        raise StoreUnavailable(f"{backend.name} cannot be written: {cause(error)}") from error
    finally:
        backend.dispose()
    return done
