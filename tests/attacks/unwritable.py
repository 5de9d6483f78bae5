"""A database that cannot be written for a while, because somebody else holds it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from tests.gate import Gate


@contextmanager
def nothing_can_be_written(guard: Gate) -> Iterator[None]:
    """Somebody else holds the database."""
    with sqlite3.connect(guard.now.settings.data_dir / "mcpguard.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")


async def recovered(guard: Gate) -> None:
    while not guard.now.guard.readiness().ready:
        await guard.clock.advance(1)
