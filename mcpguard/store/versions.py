"""Definitions of capabilities ⇄ rows. A definition is kept once, however often it is seen."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from mcpguard.domain.capabilities import Fingerprint
from mcpguard.store.pages import batched
from mcpguard.store.tables import versions

MOST_PRUNED = 500


@dataclass(frozen=True, slots=True)
class Version:
    """One definition, as the server listed it, and when it was seen first and last (UTC, microseconds)."""

    fingerprint: Fingerprint
    definition: bytes
    first_seen: int
    last_seen: int


def seen(connection: Connection, capability: str, fingerprint: Fingerprint, definition: bytes, at: int) -> None:
    """The server lists this definition now."""
    mine = (versions.c.capability == capability) & (versions.c.fingerprint == fingerprint.text)
    again = connection.execute(update(versions).where(mine).values(last_seen=at))
    if not again.rowcount:
        row = {"capability": capability, "fingerprint": fingerprint.text, "definition": definition}
        connection.execute(insert(versions), row | {"first_seen": at, "last_seen": at})


def left(connection: Connection, capability: str, fingerprint: Fingerprint, at: int) -> None:
    """The server listed this definition until then, and lists another now."""
    mine = (versions.c.capability == capability) & (versions.c.fingerprint == fingerprint.text)
    connection.execute(update(versions).where(mine).values(last_seen=at))


def prune(connection: Connection, capability: str, kept: frozenset[Fingerprint], most: int) -> None:
    """Keep so many definitions of this capability: those that are named, and of the others the newest."""
    others = select(versions.c.fingerprint).where(
        versions.c.capability == capability, versions.c.fingerprint.not_in([each.text for each in kept])
    )
    newest_first = others.order_by(versions.c.last_seen.desc(), versions.c.first_seen.desc())
    surplus = connection.scalars(newest_first.offset(max(most - len(kept), 0)).limit(MOST_PRUNED)).all()
    if surplus:
        mine = (versions.c.capability == capability) & versions.c.fingerprint.in_(surplus)
        connection.execute(delete(versions).where(mine))


def forget(connection: Connection, capabilities: Sequence[str]) -> None:
    """There were no such capabilities."""
    for some in batched(capabilities):
        connection.execute(delete(versions).where(versions.c.capability.in_(some)))


def of(connection: Connection, capability: str) -> list[Version]:
    """Every definition of this capability that was seen, the oldest first."""
    wanted = select(versions).where(versions.c.capability == capability)
    rows = connection.execute(wanted.order_by(versions.c.first_seen, versions.c.fingerprint))
    return [Version(Fingerprint(row.fingerprint), row.definition, row.first_seen, row.last_seen) for row in rows]


def definition(connection: Connection, capability: str, fingerprint: Fingerprint) -> bytes | None:
    """What was listed under this fingerprint."""
    mine = (versions.c.capability == capability) & (versions.c.fingerprint == fingerprint.text)
    found: bytes | None = connection.scalar(select(versions.c.definition).where(mine))
    return found
