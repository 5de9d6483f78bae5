"""Maps callers to rows, with only a digest of each token, or the name in certificates that a caller has instead."""

from collections.abc import Iterable

import orjson
from sqlalchemy import Connection, RowMapping, insert, select, update

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.grants import Grant
from mcpguard.store.rows.pages import batches
from mcpguard.store.rows.tables import callers


def list_callers(connection: Connection) -> list[tuple[Grant, bytes]]:
    """Return all grants that were not revoked, by label, each with the digest of its token."""
    wanted = select(callers).where(callers.c.revoked_at.is_(None)).order_by(callers.c.label)
    return [(_grant(row), bytes(row["digest"])) for row in connection.execute(wanted).mappings()]


def labels_of(connection: Connection, ids: Iterable[str]) -> dict[str, str]:
    """Return the labels of those of these callers that are known, also if they were revoked, by id."""
    found: dict[str, str] = {}
    for some in batches([*ids]):
        rows = connection.execute(select(callers.c.id, callers.c.label).where(callers.c.id.in_(some)))
        found |= {row.id: row.label for row in rows}
    return found


def is_taken(connection: Connection, label: str, certificate: str) -> bool:
    """Tell whether a caller that was not revoked has this label, or this name in certificates, unless it is empty."""
    is_same = callers.c.label == label
    if certificate:
        is_same |= callers.c.certificate == certificate
    mine = is_same & callers.c.revoked_at.is_(None)
    return connection.scalar(select(callers.c.id).where(mine)) is not None


def put(connection: Connection, grant: Grant, digest: bytes) -> None:
    """Store a new grant. Raises IntegrityError if its id, label or digest is in use."""
    connection.execute(insert(callers), _row(grant) | {"digest": digest})


def revoke(connection: Connection, caller: str, at: int, by: str) -> bool:
    """Revoke the caller. Returns False if it was not active."""
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
        "certificate": grant.certificate or None,
    }


def _grant(row: RowMapping) -> Grant:
    scope = Scope(
        tuple(orjson.loads(row["servers"])),
        tuple(orjson.loads(row["tools"])),
        frozenset(Effect(effect) for effect in row["effects"].split()),
    )
    caller = Caller(row["id"], row["label"], scope, row["must_declare"], row["manage"])
    return Grant(caller, row["created_at"], row["created_by"], row["expires_at"], row["certificate"] or "")
