"""Chains ⇄ rows."""

from sqlalchemy import Connection, insert, select

from mcpguard.store.tables import chains


def newest(connection: Connection) -> str | None:
    """The chain that was begun last."""
    found: str | None = connection.scalar(select(chains.c.id).order_by(chains.c.created_at.desc(), chains.c.id.desc()))
    return found


def every(connection: Connection) -> list[str]:
    """All chains, oldest first."""
    return list(connection.scalars(select(chains.c.id).order_by(chains.c.created_at, chains.c.id)))


def begin(connection: Connection, chain: str, at: int) -> None:
    connection.execute(insert(chains), {"id": chain, "created_at": at})
