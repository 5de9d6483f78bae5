"""Upstreams ⇄ rows."""

from dataclasses import asdict

import orjson
from sqlalchemy import Connection, RowMapping, delete, insert, select

from mcpguard.codec import declarations
from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.inspections import Inspection
from mcpguard.domain.servers.launches import Declared
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Identity, Origin, Transport, Upstream
from mcpguard.store.files.sealing import Seal
from mcpguard.store.rows.tables import upstreams


def every(connection: Connection) -> list[Upstream]:
    """All that there are and were, by name, tombstones first."""
    wanted = select(upstreams).order_by(upstreams.c.name, upstreams.c.removed.desc(), upstreams.c.id)
    return [_upstream(row) for row in connection.execute(wanted).mappings()]


def find(connection: Connection, upstream: str) -> Upstream | None:
    """The one with this id."""
    found = connection.execute(select(upstreams).where(upstreams.c.id == upstream)).mappings().first()
    return None if found is None else _upstream(found)


def declared(connection: Connection, upstream: str, seal: Seal) -> Declared | None:
    """How this one was declared. Raises StoreUnavailable if that does not open."""
    sealed = connection.scalar(select(upstreams.c.declaration).where(upstreams.c.id == upstream))
    return None if sealed is None else declarations.read(seal.open(sealed, _about(upstream)))


def put(connection: Connection, upstream: Upstream, how: Declared, seal: Seal) -> None:
    """Keep it as it is now, in the place of what was kept under its id."""
    connection.execute(delete(upstreams).where(upstreams.c.id == upstream.id))
    sealed = seal.seal(declarations.write(how), _about(upstream.id))
    connection.execute(insert(upstreams), _row(upstream) | {"declaration": sealed})


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


def _upstream(said: RowMapping) -> Upstream:
    return Upstream(
        id=said["id"],
        name=said["name"],
        transport=Transport(said["transport"]),
        standing=UpstreamStanding(said["standing"]),
        enabled=said["enabled"],
        may_ask=frozenset(AskKind(kind) for kind in said["may_ask"].split()),
        prefixes=tuple(orjson.loads(said["prefixes"])),
        origin=Origin(said["origin"]),
        requester=said["requester"],
        identity=_identity(said["launch"], said["observed"]),
        approved=_identity(said["approved_launch"], said["approved_observed"]),
        artifact=said["artifact"],
        generation=said["generation"],
        revision=said["revision"],
        removed=said["removed"],
        disabled_by=said["disabled_by"],
        screening=Screening(said["screening"]) if said["screening"] else None,
        rejected=_identity(said["rejected_launch"], said["rejected_observed"]),
        findings_read=frozenset(said["findings_read"].split()),
        inspection=_inspection(said["inspection"]),
    )


def _prints(identity: Identity | None, launch: str, observed: str) -> dict[str, str | None]:
    if identity is None:
        return {launch: None, observed: None}
    return {launch: identity.launch.text, observed: identity.observed.text if identity.observed else None}


def _identity(launch: str | None, observed: str | None) -> Identity | None:
    if launch is None:
        return None
    return Identity(Fingerprint(launch), Fingerprint(observed) if observed else None)


def _inspection(said: bytes | None) -> Inspection | None:
    if said is None:
        return None
    read = orjson.loads(said)
    return Inspection(**{**read, "wrote": tuple(read["wrote"])})
