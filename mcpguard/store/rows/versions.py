"""Maps definitions of capabilities and their findings to rows.

Each definition is stored once, however often it is listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from mcpguard.codec import findings
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.findings import InspectionFindings
from mcpguard.store.rows.pages import batches
from mcpguard.store.rows.tables import capabilities, versions

MOST_PRUNED = 500


@dataclass(frozen=True, slots=True)
class Version:
    """One definition as the server listed it, and when it was listed first and last (UTC, microseconds)."""

    fingerprint: Fingerprint
    definition: bytes
    first_seen: int
    last_seen: int
    found: InspectionFindings | None = None


def put_seen(
    connection: Connection,
    capability: str,
    fingerprint: Fingerprint,
    definition: bytes,
    at: int,
    inspected: InspectionFindings | None = None,
) -> None:
    """Store that the server lists this definition now, with these findings, which replace earlier ones."""
    content = _content(inspected)
    mine = (versions.c.capability == capability) & (versions.c.fingerprint == fingerprint.text)
    again = connection.execute(update(versions).where(mine).values(last_seen=at, found=content))
    if not again.rowcount:
        row = {"capability": capability, "fingerprint": fingerprint.text, "definition": definition, "found": content}
        connection.execute(insert(versions), row | {"first_seen": at, "last_seen": at})


def put_left(connection: Connection, capability: str, fingerprint: Fingerprint, at: int) -> None:
    """Store until when the server listed this definition."""
    mine = (versions.c.capability == capability) & (versions.c.fingerprint == fingerprint.text)
    connection.execute(update(versions).where(mine).values(last_seen=at))


def put_findings(
    connection: Connection, capability: str, fingerprint: Fingerprint, inspected: InspectionFindings
) -> None:
    """Store the findings of a stored definition."""
    mine = (versions.c.capability == capability) & (versions.c.fingerprint == fingerprint.text)
    connection.execute(update(versions).where(mine).values(found=_content(inspected)))


def forget_findings(connection: Connection, upstream: str) -> None:
    """Delete the findings of all definitions of this server."""
    mine = select(capabilities.c.id).where(capabilities.c.upstream == upstream)
    connection.execute(update(versions).where(versions.c.capability.in_(mine)).values(found=None))


def current_findings(connection: Connection, upstream: str) -> dict[str, InspectionFindings]:
    """Return the findings of the listed definitions of this server, by ids of capabilities, if there are any."""
    wanted = (
        select(versions.c.capability, versions.c.found)
        .join(capabilities, capabilities.c.id == versions.c.capability)
        .where(capabilities.c.upstream == upstream, capabilities.c.present, versions.c.found.is_not(None))
        .where(capabilities.c.listed == versions.c.fingerprint)
    )
    return {row.capability: findings.read(row.found) for row in connection.execute(wanted)}


def prune(connection: Connection, capability: str, kept: frozenset[Fingerprint], most: int) -> None:
    """Delete old definitions of a capability, so that `most` stay: those in `kept`, and the newest of the others."""
    others = select(versions.c.fingerprint).where(
        versions.c.capability == capability, versions.c.fingerprint.not_in([each.text for each in kept])
    )
    newest_first = others.order_by(versions.c.last_seen.desc(), versions.c.first_seen.desc())
    surplus = connection.scalars(newest_first.offset(max(most - len(kept), 0)).limit(MOST_PRUNED)).all()
    if surplus:
        mine = (versions.c.capability == capability) & versions.c.fingerprint.in_(surplus)
        connection.execute(delete(versions).where(mine))


def forget(connection: Connection, capabilities: Sequence[str]) -> None:
    """Delete all definitions of these capabilities."""
    for some in batches(capabilities):
        connection.execute(delete(versions).where(versions.c.capability.in_(some)))


def versions_of(connection: Connection, capability: str) -> list[Version]:
    """Return every stored definition of this capability, the oldest first."""
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


def current_definitions(connection: Connection, upstream: str, most_bytes: int) -> dict[str, bytes]:
    """Return the listed definitions of this server up to a length, by ids of capabilities."""
    wanted = (
        select(versions.c.capability, versions.c.definition)
        .join(capabilities, capabilities.c.id == versions.c.capability)
        .where(capabilities.c.upstream == upstream, capabilities.c.present)
        .where(capabilities.c.listed == versions.c.fingerprint, func.length(versions.c.definition) <= most_bytes)
    )
    return {row.capability: row.definition for row in connection.execute(wanted)}


def definition(connection: Connection, capability: str, fingerprint: Fingerprint) -> bytes | None:
    """Return the definition with this fingerprint."""
    mine = (versions.c.capability == capability) & (versions.c.fingerprint == fingerprint.text)
    found: bytes | None = connection.scalar(select(versions.c.definition).where(mine))
    return found


def _content(inspected: InspectionFindings | None) -> bytes | None:
    return findings.write(inspected) if inspected is not None and inspected.findings else None
