"""Maps checkpoints to rows."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from mcpguard.store.rows.pages import page_rows
from mcpguard.store.rows.tables import checkpoints


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """A checkpoint as it is stored."""

    seq: int
    content: bytes
    signature: bytes


def add(connection: Connection, chain: str, checkpoint: StoredCheckpoint) -> None:
    connection.execute(
        insert(checkpoints),
        {"chain": chain, "seq": checkpoint.seq, "content": checkpoint.content, "signature": checkpoint.signature},
    )


def last_checkpoint(connection: Connection, chain: str) -> StoredCheckpoint | None:
    query = select(checkpoints).where(checkpoints.c.chain == chain).order_by(checkpoints.c.seq.desc()).limit(1)
    row = connection.execute(query).first()
    return None if row is None else StoredCheckpoint(row.seq, row.content, row.signature)


def covering_checkpoint(connection: Connection, chain: str, seq: int) -> StoredCheckpoint | None:
    """Return the first checkpoint that covers this record."""
    mine = checkpoints.c.chain == chain, checkpoints.c.seq >= seq
    row = connection.execute(select(checkpoints).where(*mine).order_by(checkpoints.c.seq).limit(1)).first()
    return None if row is None else StoredCheckpoint(row.seq, row.content, row.signature)


def checkpoint_at(connection: Connection, chain: str, seq: int) -> StoredCheckpoint | None:
    """Return the checkpoint with exactly this number."""
    query = select(checkpoints).where(checkpoints.c.chain == chain, checkpoints.c.seq == seq)
    row = connection.execute(query).first()
    return None if row is None else StoredCheckpoint(row.seq, row.content, row.signature)


def checkpoints_after(connection: Connection, chain: str, seq: int, limit: int) -> list[StoredCheckpoint]:
    """Return the checkpoints after a number, the oldest first."""
    query = select(checkpoints).where(checkpoints.c.chain == chain, checkpoints.c.seq > seq)
    rows = connection.execute(query.order_by(checkpoints.c.seq).limit(limit))
    return [StoredCheckpoint(row.seq, row.content, row.signature) for row in rows]


def walk(connection: Connection, chain: str, upto: int, page: int = 2000) -> Iterator[StoredCheckpoint]:
    """Yield every checkpoint up to `upto`, in order."""
    wanted = select(checkpoints.c.seq, checkpoints.c.content, checkpoints.c.signature)
    rows = page_rows(connection, wanted, checkpoints, chain, upto, page)
    return (StoredCheckpoint(row.seq, row.content, row.signature) for row in rows)
