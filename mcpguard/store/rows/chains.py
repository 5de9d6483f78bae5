"""Chains ⇄ rows."""

from sqlalchemy import Connection, insert, select, update

from mcpguard.store.rows.tables import chains


def newest(connection: Connection) -> str | None:
    """The chain that was begun last."""
    found: str | None = connection.scalar(select(chains.c.id).order_by(chains.c.created_at.desc(), chains.c.id.desc()))
    return found


def every(connection: Connection) -> list[str]:
    """All chains, oldest first."""
    return list(connection.scalars(select(chains.c.id).order_by(chains.c.created_at, chains.c.id)))


def begin(connection: Connection, chain: str, at: int) -> None:
    connection.execute(insert(chains), {"id": chain, "created_at": at})


def touch(connection: Connection, chain: str) -> None:
    """Write something that changes nothing: a commit that writes is on the disk with all before it."""
    connection.execute(update(chains).where(chains.c.id == chain).values(created_at=chains.c.created_at))
