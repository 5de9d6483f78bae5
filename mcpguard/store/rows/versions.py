"""Definitions of capabilities, and what was found in them ⇄ rows. Each is kept once, however often it is seen."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from mcpguard.codec import findings
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.findings import Inspected
from mcpguard.store.rows.pages import batched
from mcpguard.store.rows.tables import capabilities, versions

MOST_PRUNED = 500


@dataclass(frozen=True, slots=True)
class Version:
    """One definition, as the server listed it, and when it was seen first and last (UTC, microseconds)."""

    fingerprint: Fingerprint
    definition: bytes
    first_seen: int
    last_seen: int
    found: Inspected | None = None


def seen(
    connection: Connection,
    capability: str,
    fingerprint: Fingerprint,
    definition: bytes,
    at: int,
    inspected: Inspected | None = None,
) -> None:
    """The server lists this definition now, and this was found in it. What was found in it before counts no more."""
    content = _content(inspected)
    mine = (versions.c.capability == capability) & (versions.c.fingerprint == fingerprint.text)
    again = connection.execute(update(versions).where(mine).values(last_seen=at, found=content))
    if not again.rowcount:
        row = {"capability": capability, "fingerprint": fingerprint.text, "definition": definition, "found": content}
        connection.execute(insert(versions), row | {"first_seen": at, "last_seen": at})


def left(connection: Connection, capability: str, fingerprint: Fingerprint, at: int) -> None:
    """The server listed this definition until then, and lists another now."""
    mine = (versions.c.capability == capability) & (versions.c.fingerprint == fingerprint.text)
    connection.execute(update(versions).where(mine).values(last_seen=at))


def found(connection: Connection, capability: str, fingerprint: Fingerprint, inspected: Inspected) -> None:
    """This was found in a definition that is kept."""
    mine = (versions.c.capability == capability) & (versions.c.fingerprint == fingerprint.text)
    connection.execute(update(versions).where(mine).values(found=_content(inspected)))


def found_now(connection: Connection, upstream: str) -> dict[str, Inspected]:
    """What was found in what is listed of this upstream, by the ids of its capabilities, where it is anything."""
    wanted = (
        select(versions.c.capability, versions.c.found)
        .join(capabilities, capabilities.c.id == versions.c.capability)
        .where(capabilities.c.upstream == upstream, capabilities.c.present, versions.c.found.is_not(None))
        .where(capabilities.c.listed == versions.c.fingerprint)
    )
    return {row.capability: findings.read(row.found) for row in connection.execute(wanted)}


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
    return [
        Version(
            Fingerprint(row.fingerprint),
            row.definition,
            row.first_seen,
            row.last_seen,
            findings.read(row.found) if row.found is not None else None,
        )
        for row in rows
    ]


def listed_now(connection: Connection, upstream: str, most_bytes: int) -> dict[str, bytes]:
    """What is listed of this upstream, by the ids of its capabilities; no definition that is longer than that."""
    wanted = (
        select(versions.c.capability, versions.c.definition)
        .join(capabilities, capabilities.c.id == versions.c.capability)
        .where(capabilities.c.upstream == upstream, capabilities.c.present)
        .where(capabilities.c.listed == versions.c.fingerprint, func.length(versions.c.definition) <= most_bytes)
    )
    return {row.capability: row.definition for row in connection.execute(wanted)}


def definition(connection: Connection, capability: str, fingerprint: Fingerprint) -> bytes | None:
    """What was listed under this fingerprint."""
    mine = (versions.c.capability == capability) & (versions.c.fingerprint == fingerprint.text)
    found: bytes | None = connection.scalar(select(versions.c.definition).where(mine))
    return found


def _content(inspected: Inspected | None) -> bytes | None:
    return findings.write(inspected) if inspected is not None and inspected.findings else None
