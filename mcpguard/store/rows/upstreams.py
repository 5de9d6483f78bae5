"""Maps upstreams to rows."""

from dataclasses import asdict

import orjson
from sqlalchemy import Connection, RowMapping, delete, insert, select

from mcpguard.codec import declarations
from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.inspections import Inspection
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Identity, Origin, Transport, Upstream
from mcpguard.store.files.seals import Seal
from mcpguard.store.rows.tables import upstreams


def list_upstreams(connection: Connection) -> list[Upstream]:
    """Return all servers with tombstones, by name, tombstones first."""
    wanted = select(upstreams).order_by(upstreams.c.name, upstreams.c.removed.desc(), upstreams.c.id)
    return [_upstream(row) for row in connection.execute(wanted).mappings()]


def find(connection: Connection, upstream: str) -> Upstream | None:
    """Return the server with this id."""
    found = connection.execute(select(upstreams).where(upstreams.c.id == upstream)).mappings().first()
    return None if found is None else _upstream(found)


def declaration(connection: Connection, upstream: str, seal: Seal) -> DeclaredServer | None:
    """Return the declaration of this server. Raises StoreUnavailable if it cannot be decrypted."""
    sealed = connection.scalar(select(upstreams.c.declaration).where(upstreams.c.id == upstream))
    return None if sealed is None else declarations.read(seal.open(sealed, _about(upstream)))


def put(
    connection: Connection, upstream: Upstream, how: DeclaredServer, seal: Seal, findings_rest_on: bytes = b""
) -> None:
    """Store the server, replacing what was stored under its id. `findings_rest_on`: see `UpstreamRow`."""
    connection.execute(delete(upstreams).where(upstreams.c.id == upstream.id))
    sealed = seal.seal(declarations.write(how), _about(upstream.id))
    row = _row(upstream) | {"declaration": sealed, "findings_rest_on": findings_rest_on or None}
    connection.execute(insert(upstreams), row)


def findings_rest_on(connection: Connection, upstream: str) -> bytes:
    """Return what the kept findings in what this server lists rest on; empty if nobody knows."""
    found: bytes | None = connection.scalar(select(upstreams.c.findings_rest_on).where(upstreams.c.id == upstream))
    return found or b""


def _about(upstream: str) -> str:
    return f"upstream {upstream}"


def _row(upstream: Upstream) -> dict[str, object]:
    return {
        "id": upstream.id,
        "name": upstream.name,
        "transport": upstream.transport.value,
        "standing": upstream.standing.value,
        "enabled": upstream.enabled,
        "may_ask": " ".join(sorted(upstream.may_ask)),
        "prefixes": orjson.dumps(upstream.prefixes).decode(),
        "origin": upstream.origin.value,
        "requester": upstream.requester,
        **_prints(upstream.identity, "launch", "observed"),
        **_prints(upstream.approved, "approved_launch", "approved_observed"),
        "artifact": upstream.artifact,
        "generation": upstream.generation,
        "revision": upstream.revision,
        "removed": upstream.removed,
        "disabled_by": upstream.disabled_by,
        "screening": upstream.screening.value if upstream.screening else "",
        **_prints(upstream.rejected, "rejected_launch", "rejected_observed"),
        "findings_read": " ".join(sorted(upstream.findings_read)),
        "inspection": orjson.dumps(asdict(upstream.inspection)) if upstream.inspection else None,
    }


def _upstream(row: RowMapping) -> Upstream:
    return Upstream(
        id=row["id"],
        name=row["name"],
        transport=Transport(row["transport"]),
        standing=UpstreamStanding(row["standing"]),
        enabled=row["enabled"],
        may_ask=frozenset(AskKind(kind) for kind in row["may_ask"].split()),
        prefixes=tuple(orjson.loads(row["prefixes"])),
        origin=Origin(row["origin"]),
        requester=row["requester"],
        identity=_identity(row["launch"], row["observed"]),
        approved=_identity(row["approved_launch"], row["approved_observed"]),
        artifact=row["artifact"],
        generation=row["generation"],
        revision=row["revision"],
        removed=row["removed"],
        disabled_by=row["disabled_by"],
        screening=Screening(row["screening"]) if row["screening"] else None,
        rejected=_identity(row["rejected_launch"], row["rejected_observed"]),
        findings_read=frozenset(row["findings_read"].split()),
        inspection=_inspection(row["inspection"]),
    )


def _prints(identity: Identity | None, launch: str, observed: str) -> dict[str, str | None]:
    if identity is None:
        return {launch: None, observed: None}
    return {launch: identity.launch.text, observed: identity.observed.text if identity.observed else None}


def _identity(launch: str | None, observed: str | None) -> Identity | None:
    if launch is None:
        return None
    return Identity(Fingerprint(launch), Fingerprint(observed) if observed else None)


def _inspection(stored: bytes | None) -> Inspection | None:
    if stored is None:
        return None
    read = orjson.loads(stored)
    return Inspection(**{**read, "wrote": tuple(read["wrote"])})
