"""Sessions, and the links by which the first user is made ⇄ rows. Only digests of what is shown are kept."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, RowMapping, bindparam, delete, insert, select, update

from mcpguard.domain.people import Session
from mcpguard.store.rows.tables import sessions, setups, users

_USED = update(sessions).where(sessions.c.id == bindparam("session")).values(used_at=bindparam("moment"))


def every(connection: Connection) -> list[tuple[Session, bytes]]:
    """All that have not ended, each with the digest of what its browser shows."""
    wanted = select(sessions).order_by(sessions.c.created_at, sessions.c.id)
    return [(_session(row), bytes(row["digest"])) for row in connection.execute(wanted).mappings()]


def put(connection: Connection, session: Session, digest: bytes) -> None:
    """Keep a new one. Raises IntegrityError where its id or its digest is another's."""
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
    """When each of these was used last."""
    if used:
        connection.execute(_USED, [{"session": session, "moment": moment} for session, moment in used.items()])


def end(connection: Connection, ended: Iterable[str]) -> set[str]:
    """These are there no more; which of them were."""
    wanted = sessions.c.id.in_(list(ended))
    there = set(connection.scalars(select(sessions.c.id).where(wanted)))
    connection.execute(delete(sessions).where(wanted))
    return there


def was_set_up(connection: Connection) -> bool:
    """Whether there was a user ever, also where none is there any more."""
    used = select(setups.c.id).where(setups.c.used_at.is_not(None)).limit(1)
    return connection.scalar(used) is not None or connection.scalar(select(users.c.id).limit(1)) is not None


def offer(connection: Connection, id_: str, digest: bytes, until: int) -> None:
    """From now on this is the link by which the first user is made, and no other."""
    connection.execute(delete(setups).where(setups.c.used_at.is_(None)))
    connection.execute(insert(setups), {"id": id_, "digest": digest, "expires_at": until, "used_at": None})


def offered(connection: Connection, digest: bytes, now: int) -> str | None:
    """The id of this link, where it is good for something still."""
    mine = (setups.c.digest == digest) & setups.c.used_at.is_(None) & (setups.c.expires_at > now)
    found: str | None = connection.scalar(select(setups.c.id).where(mine))
    return found


def close(connection: Connection, id_: str, now: int) -> None:
    """There is somebody from now on. `id_`: of what says so where there was no link."""
    if connection.execute(update(setups).where(setups.c.used_at.is_(None)).values(used_at=now)).rowcount == 0:
        row = {"id": id_, "digest": id_.encode(), "expires_at": now, "used_at": now}
        connection.execute(insert(setups), row)


def _session(row: RowMapping) -> Session:
    return Session(row["id"], row["user"], row["created_at"], row["used_at"], row["password_at"], row["peer"])
