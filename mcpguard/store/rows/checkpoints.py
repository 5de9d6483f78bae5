"""Checkpoints ⇄ rows."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from mcpguard.store.rows.pages import paged
from mcpguard.store.rows.tables import checkpoints


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """A checkpoint as it lies in the table."""

    seq: int
    content: bytes
    signature: bytes


def add(connection: Connection, chain: str, checkpoint: StoredCheckpoint) -> None:
    connection.execute(
        insert(checkpoints),
        {"chain": chain, "seq": checkpoint.seq, "content": checkpoint.content, "signature": checkpoint.signature},
    )


def last(connection: Connection, chain: str) -> StoredCheckpoint | None:
    query = select(checkpoints).where(checkpoints.c.chain == chain).order_by(checkpoints.c.seq.desc()).limit(1)
    row = connection.execute(query).first()
    return None if row is None else StoredCheckpoint(row.seq, row.content, row.signature)


def covering(connection: Connection, chain: str, seq: int) -> StoredCheckpoint | None:
    """The first that speaks of the chain as it stood at this number, or later."""
    mine = checkpoints.c.chain == chain, checkpoints.c.seq >= seq
    row = connection.execute(select(checkpoints).where(*mine).order_by(checkpoints.c.seq).limit(1)).first()
    return None if row is None else StoredCheckpoint(row.seq, row.content, row.signature)


def at(connection: Connection, chain: str, seq: int) -> StoredCheckpoint | None:
    """The one that was made after this record."""
    query = select(checkpoints).where(checkpoints.c.chain == chain, checkpoints.c.seq == seq)
    row = connection.execute(query).first()
    return None if row is None else StoredCheckpoint(row.seq, row.content, row.signature)


def after(connection: Connection, chain: str, seq: int, limit: int) -> list[StoredCheckpoint]:
    """Those that follow a number, oldest first."""
    query = select(checkpoints).where(checkpoints.c.chain == chain, checkpoints.c.seq > seq)
    rows = connection.execute(query.order_by(checkpoints.c.seq).limit(limit))
    return [StoredCheckpoint(row.seq, row.content, row.signature) for row in rows]


def walk(connection: Connection, chain: str, upto: int, page: int = 2000) -> Iterator[StoredCheckpoint]:
    """Every checkpoint to `upto`, in order."""
    wanted = select(checkpoints.c.seq, checkpoints.c.content, checkpoints.c.signature)
    rows = paged(connection, wanted, checkpoints, chain, upto, page)
    return (StoredCheckpoint(row.seq, row.content, row.signature) for row in rows)
