"""Maps chains to rows."""

from sqlalchemy import Connection, insert, select, update

from mcpguard.store.rows.tables import chains


def newest(connection: Connection) -> str | None:
    """Return the chain that was begun last."""
    found: str | None = connection.scalar(select(chains.c.id).order_by(chains.c.created_at.desc(), chains.c.id.desc()))
    return found


def list_chains(connection: Connection) -> list[str]:
    """Return all chains, the oldest first."""
    return list(connection.scalars(select(chains.c.id).order_by(chains.c.created_at, chains.c.id)))


def begin(connection: Connection, chain: str, at: int) -> None:
    connection.execute(insert(chains), {"id": chain, "created_at": at})


def touch(connection: Connection, chain: str) -> None:
    """Write without changing anything: a commit that writes forces all earlier ones to the disk."""
    connection.execute(update(chains).where(chains.c.id == chain).values(created_at=chains.c.created_at))
