"""Maps sessions and setup links of the first user to rows.

Only digests of cookies and links are stored.
"""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, RowMapping, bindparam, delete, insert, select, update

from mcpguard.domain.people import Session
from mcpguard.store.rows.people_tables import sessions, setups, users

_USED = update(sessions).where(sessions.c.id == bindparam("session")).values(used_at=bindparam("moment"))


def list_sessions(connection: Connection) -> list[tuple[Session, bytes]]:
    """Return all sessions that have not ended, each with the digest of its cookie."""
    wanted = select(sessions).order_by(sessions.c.created_at, sessions.c.id)
    return [(_session(row), bytes(row["digest"])) for row in connection.execute(wanted).mappings()]


def put(connection: Connection, session: Session, digest: bytes) -> None:
    """Store a new session. Raises IntegrityError if its id or digest is in use."""
    row = {
        "id": session.id,
        "digest": digest,
        "user": session.user,
        "created_at": session.created_at,
        "used_at": session.used_at,
        "password_at": session.password_at,
        "peer": session.peer,
    }
    connection.execute(insert(sessions), row)


def use(connection: Connection, used: Mapping[str, int]) -> None:
    """Store when each of these sessions was used last."""
    if used:
        connection.execute(_USED, [{"session": session, "moment": moment} for session, moment in used.items()])


def end(connection: Connection, ended: Iterable[str]) -> set[str]:
    """Delete these sessions, and return those that existed."""
    wanted = sessions.c.id.in_(list(ended))
    there = set(connection.scalars(select(sessions.c.id).where(wanted)))
    connection.execute(delete(sessions).where(wanted))
    return there


def was_set_up(connection: Connection) -> bool:
    """Tell whether the first user was created already, even if no row of it is left."""
    used = select(setups.c.id).where(setups.c.used_at.is_not(None)).limit(1)
    return connection.scalar(used) is not None or connection.scalar(select(users.c.id).limit(1)) is not None


def offer(connection: Connection, id_: str, digest: bytes, until: int) -> None:
    """Store a setup link, replacing every unused one."""
    connection.execute(delete(setups).where(setups.c.used_at.is_(None)))
    connection.execute(insert(setups), {"id": id_, "digest": digest, "expires_at": until, "used_at": None})


def open_setup(connection: Connection, digest: bytes, now: int) -> str | None:
    """Return the id of this setup link if it is unused and has not expired."""
    mine = (setups.c.digest == digest) & setups.c.used_at.is_(None) & (setups.c.expires_at > now)
    found: str | None = connection.scalar(select(setups.c.id).where(mine))
    return found


def close(connection: Connection, id_: str, now: int) -> None:
    """Mark the setup as done. `id_`: the id of the mark if there was no link."""
    if connection.execute(update(setups).where(setups.c.used_at.is_(None)).values(used_at=now)).rowcount == 0:
        row = {"id": id_, "digest": id_.encode(), "expires_at": now, "used_at": now}
        connection.execute(insert(setups), row)


def _session(row: RowMapping) -> Session:
    return Session(row["id"], row["user"], row["created_at"], row["used_at"], row["password_at"], row["peer"])
