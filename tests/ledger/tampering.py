"""Changing a ledger behind the guard's back."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mcpguard.ledger.format import GENESIS, link

EMPTY = (
    "UPDATE records SET content=NULL, at=NULL, kind=NULL, entry=NULL, caller=NULL, server=NULL, capability=NULL, "
    'name=NULL, effect=NULL, verdict=NULL, outcome=NULL, reason=NULL, "by"=NULL WHERE seq BETWEEN ? AND ?'
)
"""What pruning leaves of records."""


@contextmanager
def tampering(database: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")  # what begins by reading could not write if the guard wrote meanwhile
        yield connection
        connection.execute("COMMIT")


def rechain(connection: sqlite3.Connection) -> None:
    """What a careful forger does after a change: compute every hash anew."""
    previous = GENESIS
    for seq, content in connection.execute("SELECT seq, content FROM records ORDER BY seq").fetchall():
        previous = link(previous, content)
        connection.execute("UPDATE records SET hash = ? WHERE seq = ?", (previous, seq))
