"""Callers ⇄ rows. Of a token its digest is kept, and nothing that it could be made from."""

import orjson
from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.grants import Grant
from mcpguard.store.rows.tables import callers

_HOLDS = select(callers.c.id).where(callers.c.id == bindparam("caller"), callers.c.revoked_at.is_(None))


def every(connection: Connection) -> list[tuple[Grant, bytes]]:
    """All that were not revoked, by label, each with the digest of its token."""
    wanted = select(callers).where(callers.c.revoked_at.is_(None)).order_by(callers.c.label)
    return [(_grant(row), bytes(row["digest"])) for row in connection.execute(wanted).mappings()]


def holds(connection: Connection, caller: str) -> bool:
    """Whether this one is there, and was not revoked."""
    return connection.scalar(_HOLDS, {"caller": caller}) is not None


def is_taken(connection: Connection, label: str) -> bool:
    """Whether a caller that was not revoked has this label."""
    mine = (callers.c.label == label) & callers.c.revoked_at.is_(None)
    return connection.scalar(select(callers.c.id).where(mine)) is not None


def put(connection: Connection, grant: Grant, digest: bytes) -> None:
    """Keep a new one. Raises IntegrityError where its id, its label or its digest is another's."""
    connection.execute(insert(callers), _row(grant) | {"digest": digest})


def revoke(connection: Connection, caller: str, at: int, by: str) -> bool:
    """From now on it is revoked; whether it was not before."""
    mine = (callers.c.id == caller) & callers.c.revoked_at.is_(None)
    return connection.execute(update(callers).where(mine).values(revoked_at=at, revoked_by=by)).rowcount == 1


def _row(grant: Grant) -> dict[str, object]:
    caller = grant.caller
    return {
        "id": caller.id,
        "label": caller.label,
        "servers": orjson.dumps(caller.scope.servers).decode(),
        "tools": orjson.dumps(caller.scope.tools).decode(),
        "effects": " ".join(sorted(caller.scope.effects)),
        "must_declare": caller.must_declare,
        "manage": caller.manage,
        "created_at": grant.at,
        "created_by": grant.by,
        "expires_at": grant.expires_at,
        "revoked_at": None,
        "revoked_by": None,
    }


def _grant(said: RowMapping) -> Grant:
    scope = Scope(
        tuple(orjson.loads(said["servers"])),
        tuple(orjson.loads(said["tools"])),
        frozenset(Effect(effect) for effect in said["effects"].split()),
    )
    caller = Caller(said["id"], said["label"], scope, said["must_declare"], said["manage"])
    return Grant(caller, said["created_at"], said["created_by"], said["expires_at"])
